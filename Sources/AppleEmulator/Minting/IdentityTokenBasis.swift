/// The data for an identity token, read under one lock, so that signing needs no lock.
struct IdentityTokenBasis {
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let isFirstAuthorization: Bool
    /// Whether the app may see the e-mail address.
    let sharesEmail: Bool
    /// Whether the user signs in on a web page, where Apple does not send `real_user_status`.
    let isFromWeb: Bool
    /// During a transfer of the app: the identifier of the user for both teams.
    let transferSubject: String?
    let keys: SigningKeys
}
