/// The transfer of users between teams: `POST /auth/usermigrationinfo`. Apple answers for 60 days after the
/// receiving team has accepted the app. Both calls only read and can be repeated.
public protocol AppleMigrationService: Sendable {
    /// For the sending team: returns the identifier with which the receiving team can find this user.
    func transferSubject(of subject: String, to recipientTeam: String, clientID: String)
        async throws(AppleCallError) -> String

    /// For the receiving team: returns the user's new identifier and e-mail address.
    func recipient(ofTransferSubject transferSubject: String, clientID: String) async throws(AppleCallError)
        -> MigratedUser
}
