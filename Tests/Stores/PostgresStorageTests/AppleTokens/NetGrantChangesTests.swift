import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// Checks that deleting all rows first and inserting afterwards has the same result as the changes in their
/// order.
@Suite struct NetGrantChangesTests {
    private static let first = AccountID(.sample(1))
    private static let second = AccountID(.sample(2))

    private static func code(_ number: UInt64, of account: AccountID = first) -> NewAuthorizationCode {
        NewAuthorizationCode(
            .sample(number, expiresAt: 2), accountID: account, primaryClientID: "com.example.app",
            authorizedAt: 1, nextAttemptAt: 1)
    }

    private static func token(
        _ number: UInt64, of account: AccountID = first, _ client: ClientID = "com.example.app"
    ) -> RefreshTokenRecord {
        RefreshTokenRecord(
            id: .sample(number), accountID: account, clientID: client, primaryClientID: "com.example.app",
            sealed: .sample("token \(number)"), authorizedAt: 1, nextCheckAt: 1)
    }

    /// The tables after the changes: a later rule replaces an earlier one, and no change is lost.
    private struct Tables: Equatable {
        var codes: [UniqueID: NewAuthorizationCode] = [:]
        var tokens: [[UInt64]: RefreshTokenRecord] = [:]

        static func name(_ account: AccountID, _ client: ClientID) -> [UInt64] {
            [account.uniqueID.low] + client.rawValue.utf8.map { UInt64($0) }
        }

        mutating func carryOut(_ changes: [AppleTokenChange]) {
            for change in changes {
                switch change {
                case .insertCode(let code): if codes[code.id] == nil { codes[code.id] = code }
                case .removeCode(let id): codes[id] = nil
                case .putToken(let token): tokens[Self.name(token.accountID, token.clientID)] = token
                case .removeToken(let account, let client): tokens[Self.name(account, client)] = nil
                case .removeAll(let account):
                    codes = codes.filter { $0.value.accountID != account }
                    tokens = tokens.filter { $0.value.accountID != account }
                }
            }
        }

        mutating func carryOut(_ net: NetAppleTokenChanges) {
            codes = codes.filter { !net.emptiedAccounts.contains($0.value.accountID) }
            tokens = tokens.filter { !net.emptiedAccounts.contains($0.value.accountID) }
            for id in net.removedCodes { codes[id] = nil }
            for (account, client) in net.removedTokens { tokens[Self.name(account, client)] = nil }
            for code in net.codes where codes[code.id] == nil { codes[code.id] = code }
            for token in net.tokens { tokens[Self.name(token.accountID, token.clientID)] = token }
        }
    }

    @Test func `comes to the same as the changes one after the other, whatever they are`() {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<2000 {
            let changes = (0..<Int.random(in: 0...12, using: &generator)).map { _ -> AppleTokenChange in
                let number = UInt64.random(in: 1...4, using: &generator)
                // A code belongs to one account for ever.
                let owner = number.isMultiple(of: 2) ? Self.first : Self.second
                let account = Bool.random(using: &generator) ? Self.first : Self.second
                let client: ClientID = Bool.random(using: &generator) ? "com.example.app" : "com.example.web"
                return switch Int.random(in: 0..<9, using: &generator) {
                case 0...2: .insertCode(Self.code(number, of: owner))
                case 3: .removeCode(.sample(number))
                case 4...6: .putToken(Self.token(number, of: account, client))
                case 7: .removeToken(account, client)
                default: .removeAll(account)
                }
            }
            var oneByOne = Tables()
            oneByOne.carryOut([
                .insertCode(Self.code(1, of: Self.second)), .insertCode(Self.code(2)),
                .putToken(Self.token(9)),
            ])
            var atOnce = oneByOne
            oneByOne.carryOut(changes)
            atOnce.carryOut(NetAppleTokenChanges(changes))
            #expect(oneByOne == atOnce)
        }
    }

    @Test func `names no token and no code twice, however often they change`() {
        let net = NetAppleTokenChanges([
            .putToken(Self.token(1)), .putToken(Self.token(2)), .insertCode(Self.code(1)),
            .insertCode(Self.code(1)), .putToken(Self.token(3, of: Self.second)),
        ])
        #expect(net.tokens.map(\.id) == [.sample(2), .sample(3)])
        #expect(net.codes.map(\.id) == [.sample(1)])
    }
}
