/// What an identity token is made from, read from the world in one go so that signing needs no lock.
struct IdentityTokenBasis {
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let isFirstAuthorization: Bool
    /// Whether the app was ever given the address.
    let sharesEmail: Bool
    /// Whether the person signs in on a web page, where Apple cannot tell how real a user is.
    let isFromWeb: Bool
    /// During a transfer of the app: what its former and its present team both know the person as.
    let transferSubject: String?
    let keys: SigningKeys
}
