import AppleAccounts
import Foundation

/// The file of a transfer, as the receiving team gets it.
///
/// The file may have been copied, joined from parts, or edited. Changes without loss are accepted. Otherwise
/// the whole file is refused, before a request to Apple is sent or an account is moved.
struct TransferFile {
    /// One line per account, in the order of the file.
    let lines: [TransferLine]

    /// - Throws: `LineFile.Unusable`, also when a line's app is not the receiving team's in this deployment.
    init(path: String, deployment: Deployment) throws(LineFile.Unusable) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw LineFile.Unusable(path: path, reason: "does not exist")
        }
        var lines: [TransferLine] = []
        var places: [AccountID: (number: Int, line: TransferLine)] = [:]
        var transferSubjects: [AppleSubject: Int] = [:]
        for (number, json) in try LineFile.numberedLines(of: path, isEnded: true) {
            func refusal(_ reason: String) -> LineFile.Unusable {
                LineFile.Unusable(path: path, reason: reason)
            }
            guard let line = TransferLine(json) else {
                throw refusal("has a line \(number) that is not a transfer")
            }
            guard let app = deployment.app(for: line.clientID), app.team == line.recipientTeam else {
                throw refusal(
                    "is for \(line.clientID.rawValue) in team \(line.recipientTeam.rawValue), "
                        + "which the configuration does not have")
            }
            if let first = places[line.accountID] {
                // Overlapping parts may repeat a line. When two lines of an account differ, the right line is
                // unknown.
                guard first.line == line else {
                    throw refusal(
                        "has different data for one account in lines \(first.number) and \(number); "
                            + "remove one of them")
                }
                continue
            }
            if let first = transferSubjects.updateValue(number, forKey: line.transferSubject) {
                throw refusal(
                    "has the same transfer_sub for two accounts in lines \(first) and \(number); prepare it again"
                )
            }
            places[line.accountID] = (number, line)
            lines.append(line)
        }
        self.lines = lines
    }
}
