import AppleAccounts
import AuthorizationServer
import Cryptography
import TestSupport

/// Makes grant commands with two users, three clients, and few codes, token families and moments, so that
/// commands often affect the same records.
struct RandomGrantCommands {
    var generator: SeededGenerator
    private var nextNumber: UInt64 = 1
    /// Grants of devices have these numbers too, so they are no numbers of codes.
    private var nextDevice: UInt64 = 1_000_000
    private var count: Int64 = 0
    private let clients: [OAuthClientID] = ["google", "phone", "tablet"]
    /// A verifier, and with the method `plain` its challenge.
    private let plain = String(repeating: "p", count: 43)
    /// Tokens that a store may have issued.
    private var tokens: [SampleToken] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// A command for a user, whose account ID differs in each store.
    struct Command {
        let key: SubjectKey
        let make: (AccountID) -> GrantCommand
    }

    mutating func command(for keys: [SubjectKey]) -> Command {
        count += 1
        let (key, client, moment) = (pick(keys), pick(clients), self.moment())
        switch Int.random(in: 0..<33, using: &generator) {
        case 0...4: return authorization(key, client, at: moment)
        case 5...9: return redemption(key, client, at: moment)
        case 10...14: return refresh(key, client, at: moment)
        case 15:
            let token = recentToken()
            return Command(key: key) { _ in .revoke(.sample(token, client: client, at: moment)) }
        case 16:
            let id = GrantID(.sample(recentNumber()))
            return Command(key: key) { .end(.sample(id, of: $0, at: moment)) }
        case 17...22: return assertion(key, at: moment)
        case 23:
            let (subject, match) = (pick(["g1", "g2"]), pick(Self.matches))
            return Command(key: key) {
                .learnGoogleSubject(
                    .sample(account: $0, subject: subject, match: match, assertedAt: moment))
            }
        case 24:
            return Command(key: key) {
                .endAll(EndGrantsCommand(accountID: $0, scope: .all, reason: .unlinked, moment: moment))
            }
        case 26...31: return device(key, client, at: moment)
        case 25: return exchange(key, pick(Array(clients.dropFirst())), at: moment)
        default: return googleEvent(key, at: moment)
        }
    }

    private mutating func authorization(
        _ key: SubjectKey, _ client: OAuthClientID, at moment: Moment
    ) -> Command {
        defer { nextNumber += 1 }
        let number = nextNumber
        let scope = pick(["openid", "openid offline_access", "email"])
        let challenge = pick([nil, CodeRecord.StoredChallenge(text: plain, isPlain: true)])
        let authenticatedAt = self.moment()
        return Command(key: key) {
            .authorize(
                .sample(
                    number, account: $0, client: client, challenge: challenge, scope: scope,
                    authenticatedAt: authenticatedAt, at: moment))
        }
    }

    private mutating func redemption(
        _ key: SubjectKey, _ client: OAuthClientID, at moment: Moment
    ) -> Command {
        let isGoogle = client == "google"
        let (number, family) = (recentNumber(), nextNumber)
        nextNumber += 1
        tokens.append(SampleToken(family: family))
        let verifier = pick([nil, nil, plain])
        let hasToken = pick([true, true, false])
        return Command(key: key) { _ in
            .redeem(
                .sample(
                    number, client: client, verifier: verifier, isNative: !isGoogle, family: family,
                    hasRefreshToken: hasToken, needsOfflineAccess: false, forGoogle: isGoogle,
                    expiresAt: moment.advanced(byMilliseconds: 60_000),
                    limits: FamilyLimits(perClient: 2, perAccount: isGoogle ? nil : 3), at: moment))
        }
    }

    private mutating func refresh(
        _ key: SubjectKey, _ client: OAuthClientID, at moment: Moment
    ) -> Command {
        let isGoogle = client == "google"
        let token = recentToken()
        // Mostly the salt of the exchange before, so that later commands have tokens that were issued.
        let salt = pick([0, 0, 0, 1])
        if !isGoogle { tokens.append(token.next(salt)) }
        let (scope, window) = (pick([nil, nil, "openid", "email"]), pick([0, 20_000, 60_000] as [Int64]))
        return Command(key: key) { _ in
            .refresh(
                .sample(
                    token, client: client, salt: isGoogle ? nil : salt, retryWindow: window, scope: scope,
                    expiresAt: moment.advanced(byMilliseconds: 60_000), at: moment))
        }
    }

    private mutating func assertion(_ key: SubjectKey, at moment: Moment) -> Command {
        defer { nextNumber += 1 }
        let number = nextNumber
        tokens.append(SampleToken(family: number))
        let subject = pick(["g1", "g2"])
        let match = pick(Self.matches)
        // Mostly after Google's last word about the account, which refuses what is older.
        let assertedAt = moment.advanced(byMilliseconds: pick([-8000, 0, 200_000, 200_000, 200_000]))
        return Command(key: key) {
            .assertion(
                .sample(
                    number, account: $0, subject: subject, match: match,
                    assertedAt: assertedAt,
                    limits: FamilyLimits(perClient: 2, perAccount: nil), at: moment))
        }
    }

    /// Two addresses that accounts of the random sign-ins have, and the other matches.
    private static let matches: [GoogleAccountMatch] = [
        .email("x@example.com"), .email("X@EXAMPLE.com"), .email("b@example.com"), .link, .origin,
    ]

    private mutating func exchange(
        _ key: SubjectKey, _ client: OAuthClientID, at moment: Moment
    ) -> Command {
        defer { nextNumber += 1 }
        let number = nextNumber
        tokens.append(SampleToken(family: number))
        let (scope, authenticatedAt) = (pick(["openid", "email"]), self.moment())
        return Command(key: key) {
            .exchange(
                .sample(
                    number, account: $0, client: client, scope: scope, authenticatedAt: authenticatedAt,
                    expiresAt: moment.advanced(byMilliseconds: 60_000),
                    limits: FamilyLimits(perClient: 2, perAccount: 3), at: moment))
        }
    }

    private mutating func device(_ key: SubjectKey, _ client: OAuthClientID, at moment: Moment) -> Command {
        let number = UInt64.random(in: 1...40, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0...2:
            defer { nextDevice += 1 }
            let device = DeviceAuthorization.sample(nextDevice, client: client, userCode: number, at: moment)
            return Command(key: key) { _ in
                .beginDevice(
                    BeginDeviceCommand(device: device, limits: DeviceLimits(perClient: 8, total: 20)))
            }
        case 3...4:
            let (device, scope) = (recentDevice(), pick(["openid", "email"]))
            let authenticatedAt = self.moment()
            return Command(key: key) {
                .decideDevice(
                    .agree(
                        device, account: $0, client: client, scope: scope, authenticatedAt: authenticatedAt,
                        at: moment))
            }
        case 5:
            let device = recentDevice()
            return Command(key: key) { _ in .decideDevice(.refuse(device, client: client, at: moment)) }
        default:
            let (device, family) = (recentDevice(), nextNumber)
            nextNumber += 1
            tokens.append(SampleToken(family: family))
            return Command(key: key) { _ in
                .pollDevice(
                    .sample(
                        device, client: client, family: family,
                        limits: FamilyLimits(perClient: 2, perAccount: 3), at: moment))
            }
        }
    }

    private mutating func recentDevice() -> UInt64 {
        UInt64.random(in: (nextDevice > 6 ? nextDevice - 6 : 1)...nextDevice, using: &generator)
    }

    private mutating func googleEvent(_ key: SubjectKey, at moment: Moment) -> Command {
        let subject = pick(["g1", "g2"])
        let change: GoogleEventCommand.Change = pick([
            .endFamilies(
                googleSubject: subject, upTo: self.moment(), of: pick([nil, ["google"], ["phone"]])),
            .endToken(
                doubleSHA512: recentToken().doubleSHA512, of: pick([["google"], ["phone"]]),
                googleSubject: pick([nil, subject])),
            .name(googleSubject: subject),
            .disable(googleSubject: subject, at: self.moment()),
            .enable(googleSubject: subject, at: self.moment()),
            .enable(googleSubject: subject, at: self.moment()),
            .enable(googleSubject: subject, at: self.moment()),
        ])
        let jti = "jti-\(Int.random(in: 1...40, using: &generator))"
        return Command(key: key) { _ in
            .googleEvent(.sample(change, jti: jti, receivedAt: moment))
        }
    }

    /// Returns a moment within two minutes, so that retries, lost responses and expiry all happen. After many
    /// commands the next hour begins, because the number of new grants of an account for a client is bounded
    /// in each hour.
    private mutating func moment() -> Moment {
        let hours = count / 200
        return Moment(
            milliseconds: hours * GrantPace.window + Int64.random(in: 1...30, using: &generator) * 4000)
    }

    private mutating func recentNumber() -> UInt64 {
        UInt64.random(in: (nextNumber > 12 ? nextNumber - 12 : 1)...nextNumber, using: &generator)
    }

    private mutating func recentToken() -> SampleToken {
        pick(tokens.suffix(12) + [SampleToken(family: 1)])
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }
}
