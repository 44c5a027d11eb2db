/// What an identity token is made from, read from the world in one go so that signing needs no lock.
struct IdentityTokenBasis {
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let isFirstAuthorization: Bool
    let keys: SigningKeys
}
