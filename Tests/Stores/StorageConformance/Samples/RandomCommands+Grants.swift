import AppleAccounts

extension RandomCommands {
    /// A sign-in with a code of this number.
    mutating func signIn(withCode number: UInt64) -> SignInCommand {
        let plain = signIn()
        return .sample(
            key: plain.key, clientID: plain.clientID, authorizedAt: plain.authorizedAt, email: plain.email,
            firstName: plain.profile.firstName,
            authorizationCode: .sample(number, clientID: plain.clientID),
            refreshTokenCause: pick([nil, .noSealingKey]), receivedAt: plain.receivedAt)
    }

    /// A change of the codes and tokens with numbers up to this number, or of an account.
    mutating func userCommand(upTo number: UInt64) -> UserCommand {
        let (key, code) = (pick(keys), UInt64.random(in: 1...number, using: &generator))
        let (moment, fresh) = (self.moment(), UInt64(1_000_000) + number)
        let clientID: ClientID =
            key.team == "OTHERTEAM1" ? "org.example.app" : pick(["com.example.app", "com.example.other"])
        let token = pick([code, fresh, nil])
        let target = pick(keys)
        switch Int.random(in: 0..<13, using: &generator) {
        case 10...12: return accountChange(of: key)
        case 0...4:
            return UserCommand(key: key) { account in
                .finishExchange(
                    .sample(
                        code: code, account: account, clientID: clientID, token: token, authorizedAt: moment))
            }
        case 5...7:
            return UserCommand(key: key) { account in
                .rejectRefreshToken(
                    .sample(token: code, account: account, clientID: clientID, at: moment))
            }
        case 8:
            return UserCommand(key: key) { account in
                .erase(.sample(2_000_000 + number, account: account, at: moment))
            }
        default:
            return UserCommand(key: key) { account in
                .transfer(
                    TransferCommand(
                        accountID: account.id, from: key, to: target, clientID: clientID, email: nil,
                        createdAt: account.createdAt, receivedAt: moment))
            }
        }
    }

    /// Disables, enables or signs out an account. Accounts are enabled most often, so that sign-ins go on.
    mutating func accountChange(of key: SubjectKey) -> UserCommand {
        let (moment, end) = (self.moment(), pick([self.moment(), .last]))
        let reason = pick(Disabling.Reason.allCases)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1:
            return UserCommand(key: key) { .disable(.sample($0, reason: reason, until: end, at: moment)) }
        case 2: return UserCommand(key: key) { .signOut(.sample($0, keptClients: ["google"], at: moment)) }
        case 3: return UserCommand(key: key) { .enable(.sample($0, onlyIfOver: true, at: moment)) }
        default: return UserCommand(key: key) { .enable(.sample($0, at: moment)) }
        }
    }
}
