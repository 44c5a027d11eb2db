/// The transfer of users between teams: `POST /auth/usermigrationinfo`. Apple answers during the 60 days after the
/// recipient has accepted the app. Both calls only read and can be repeated.
public protocol AppleMigrationService: Sendable {
    /// For the sending team: the identifier by which the recipient can find this user.
    func transferSubject(of subject: String, to recipientTeam: String, clientID: String)
        async throws(AppleCallError) -> String

    /// For the receiving team: who a user is from now on.
    func recipient(ofTransferSubject transferSubject: String, clientID: String) async throws(AppleCallError)
        -> MigratedUser
}
