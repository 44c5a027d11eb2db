import AppleAccounts
import StrictJSON

/// One account of an app that changes teams: a line of the file that the sending team gives to the receiving
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

    /// Returns `nil` when a member is missing or malformed, or when both teams are the same.
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
