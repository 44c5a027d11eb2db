import AppleAccounts
import Foundation

/// The file of a transfer, as the sending team hands it over.
///
/// It has been through other hands: copied, joined from parts, perhaps opened in an editor. What that does without loss is
/// taken as it is; anything else is refused as a whole, before Apple is asked or an account is moved.
struct TransferFile {
    /// One for each account, in the order of the file.
    let lines: [TransferLine]

    /// - Throws: `LineFile.Unusable`, also when a line's app is not the receiving team's in this deployment.
    init(path: String, deployment: Deployment) throws(LineFile.Unusable) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw LineFile.Unusable(path: path, reason: "is not there")
        }
        var lines: [TransferLine] = []
        var places: [AccountID: (number: Int, line: TransferLine)] = [:]
        var transferSubjects: [AppleSubject: Int] = [:]
        for (number, json) in try LineFile.numberedLines(of: path, isEnded: true) {
            func refusal(_ reason: String) -> LineFile.Unusable {
                LineFile.Unusable(path: path, reason: reason)
            }
            guard let line = TransferLine(json) else {
                throw refusal("has a line \(number) that is no transfer")
            }
            guard let app = deployment.app(for: line.clientID), app.team == line.recipientTeam else {
                throw refusal(
                    "is for \(line.clientID.rawValue) in team \(line.recipientTeam.rawValue), "
                        + "which the configuration does not have")
            }
            if let first = places[line.accountID] {
                // Two parts that overlap say the same of an account. When they do not, nobody here knows which is right.
                guard first.line == line else {
                    throw refusal(
                        "says different things of one account in lines \(first.number) and \(number); "
                            + "take one of them away")
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
