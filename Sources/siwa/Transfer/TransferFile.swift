import AppleAccounts
import Composition
import Foundation
import StrictJSON

/// A transfer file, as received by the receiving team.
///
/// The file may have been copied, joined from parts, or edited. It is accepted if nothing was lost. Otherwise
/// the whole file is refused before any request is sent to Apple and before any account is moved.
struct TransferFile {
    /// The file's lines in order, one per account.
    let lines: [TransferLine]

    /// - Throws: `LineFile.Unusable`, including if a line's app does not belong to the receiving team in this
    ///   deployment.
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
                // Overlapping parts may repeat a line. If an account's two lines differ, no rule can decide
                // which line is correct.
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

/// An account in an app that changes teams: one line of the file that the sending team gives to the receiving
/// team.
struct TransferLine: Equatable, Sendable {
    let accountID: AccountID
    let from: SubjectKey
    let recipientTeam: TeamID
    /// The app's primary client ID.
    let clientID: ClientID
    let transferSubject: AppleSubject
    let createdAt: Moment

    init(
        accountID: AccountID, from: SubjectKey, recipientTeam: TeamID, clientID: ClientID,
        transferSubject: AppleSubject, createdAt: Moment
    ) {
        (self.accountID, self.from, self.recipientTeam) = (accountID, from, recipientTeam)
        (self.clientID, self.transferSubject, self.createdAt) = (clientID, transferSubject, createdAt)
    }

    /// Returns `nil` if a member is missing or malformed, or if both teams are the same.
    init?(_ json: JSONObject) {
        guard let accountID = json["account_id"]?.string.flatMap({ AccountID($0) }),
            let team = json["from_team_id"]?.string.flatMap({ TeamID($0) }),
            let subject = json["sub"]?.string.flatMap({ AppleSubject($0) }),
            let recipientTeam = json["to_team_id"]?.string.flatMap({ TeamID($0) }),
            let clientID = json["client_id"]?.string.flatMap({ ClientID($0) }),
            let transferSubject = json["transfer_sub"]?.string.flatMap({ AppleSubject($0) }),
            let createdAt = json["created_at"]?.string.flatMap({ Moment(rfc3339: $0) }),
            team != recipientTeam
        else { return nil }
        self.init(
            accountID: accountID, from: SubjectKey(team: team, subject: subject),
            recipientTeam: recipientTeam,
            clientID: clientID, transferSubject: transferSubject, createdAt: createdAt)
    }

    var json: JSONObject {
        JSONObject([
            ("account_id", .string(accountID.rawValue)), ("from_team_id", .string(from.team.rawValue)),
            ("sub", .string(from.subject.rawValue)), ("to_team_id", .string(recipientTeam.rawValue)),
            ("client_id", .string(clientID.rawValue)), ("transfer_sub", .string(transferSubject.rawValue)),
            ("created_at", .string(createdAt.rfc3339)),
        ])
    }
}

/// A file with one JSON object per line, to which lines are appended as the work proceeds. It is readable
/// only by its owner, because it contains personal data.
final class LineFile {
    struct Unusable: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) \(reason)" }
    }

    let path: String
    private let handle: FileHandle

    /// Opens or creates the file, and removes an incomplete last line left behind by a crash. Throws
    /// `Unusable` if the file cannot be opened.
    init(appendingTo path: String) throws {
        self.path = path
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unusable(path: path, reason: "cannot be written") }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let content = try handle.readToEnd() ?? Data()
        let whole = content.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < content.count { try handle.truncate(atOffset: UInt64(whole)) }
    }

    /// Appends lines. They are durable when this call returns.
    func append(_ lines: [JSONObject]) throws {
        guard !lines.isEmpty else { return }
        var bytes: [UInt8] = []
        for line in lines { bytes += JSONValue.object(line).serialized() + [UInt8(ascii: "\n")] }
        try handle.write(contentsOf: Data(bytes))
        try handle.synchronize()
    }

    /// Returns a file's complete lines; no lines if there is no file. Throws `Unusable` for a line that is
    /// not a JSON object.
    static func read(_ path: String) throws(Unusable) -> [JSONObject] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try numberedLines(of: path).map(\.object)
    }

    /// Returns a file's lines with their numbers, but without blank lines. Accepts Windows line endings.
    ///
    /// - Parameter isEnded: True if the file must be complete. A last line without a line ending is then
    ///   read, and refused if it is truncated. If false, this line is ignored as the remains of a crash.
    /// - Throws: `Unusable` for a line that is not a JSON object.
    static func numberedLines(
        of path: String, isEnded: Bool = false
    ) throws(Unusable) -> [(number: Int, object: JSONObject)] {
        guard let content = FileManager.default.contents(atPath: path) else {
            throw Unusable(path: path, reason: "cannot be read")
        }
        var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The text that remains after the last line ending.
        let rest = lines.popLast() ?? Data()
        let isCutOff = isEnded && !isBlank(rest)
        if isCutOff { lines.append(rest) }
        var objects: [(number: Int, object: JSONObject)] = []
        for (index, line) in lines.enumerated() where !isBlank(line) {
            guard let object = try? JSONValue(parsing: Array(line)).object else {
                throw Unusable(
                    path: path,
                    reason: isCutOff && index == lines.count - 1
                        ? "is truncated in line \(index + 1); copy it again or prepare it again"
                        : "has a line \(index + 1) that is not a JSON object")
            }
            objects.append((index + 1, object))
        }
        return objects
    }

    private static func isBlank(_ line: Data) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }

    /// Replaces the file's content with these lines. Removes the file if there are no lines.
    static func replace(_ path: String, with lines: [JSONObject]) throws {
        try? FileManager.default.removeItem(atPath: path)
        if !lines.isEmpty { try LineFile(appendingTo: path).append(lines) }
    }
}
