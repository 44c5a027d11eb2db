/// The data for a notification, read under one lock, so that signing needs no lock.
struct NotificationBasis {
    let type: String
    let user: EmulatedUser
    let identity: TeamIdentity
    let clientID: String
    let keys: SigningKeys
}
