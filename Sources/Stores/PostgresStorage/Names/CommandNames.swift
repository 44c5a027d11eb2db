import AppleAccounts

/// The teams, apps and clients that commands name.
struct CommandNames {
    private(set) var teams: Set<TeamID> = []
    private(set) var apps: Set<ClientID> = []
    private(set) var clients: Set<ClientID> = []

    mutating func add(_ command: AccountCommand) {
        switch command {
        case .signIn(let signIn):
            teams.insert(signIn.key.team)
            apps.insert(signIn.clientID)
            if let offer = signIn.authorizationCode { clients.insert(offer.clientID) }
        case .notification(let notification):
            teams.insert(notification.team)
            apps.insert(notification.clientID)
        case .finishExchange(let exchange):
            teams.insert(exchange.key.team)
            apps.insert(exchange.primaryClientID)
            clients.insert(exchange.clientID)
        case .rejectRefreshToken(let rejection):
            teams.insert(rejection.key.team)
            apps.insert(rejection.primaryClientID)
            clients.insert(rejection.clientID)
        case .erase(let erase):
            teams.insert(erase.key.team)
        case .transfer(let transfer):
            teams.insert(transfer.to.team)
            apps.insert(transfer.clientID)
        case .registerKey, .useProof: break
        case .disable(let disable):
            teams.insert(disable.key.team)
        case .enable(let enable):
            teams.insert(enable.key.team)
        case .signOut(let signOut):
            teams.insert(signOut.key.team)
        }
    }
}
