/// What a notification is made from, read from the world in one go so that signing needs no lock.
struct NotificationBasis {
    let type: String
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let keys: SigningKeys
}
