import AppleAccounts
import AuthorizationServer
import StorageConformance
import Testing

@testable import PostgresStorage

/// Thousands of users whose tokens and codes are used at one replica, while another replica ends them.
@Suite struct GrantStormTests {
    private static let rounds = 1500
    private static let workers = 6

    /// Result of a round.
    private struct Round: Sendable {
        let end: GrantEnd
        /// Results of refresh and redemption: true if the use came before the end.
        var cameFirst: [Bool] = []
        var faults: [String] = []
    }

    @Test func `leaves no good token of 1,500 users whose grants end at another replica`() async throws {
        try await Replicas.with { replicas in
            let rounds = try await replicas.play(Self.rounds, workers: Self.workers) {
                try await Self.play($0, in: replicas)
            }
            #expect(rounds.flatMap(\.faults) == [])
            for end in GrantEnd.allCases where !end.isTransfer {
                let orders = rounds.filter { $0.end == end }.flatMap(\.cameFirst)
                #expect(orders.contains(true) && orders.contains(false), "\(end): only one order was met")
            }
        }
    }

    private static func play(_ number: Int, in replicas: Replicas) async throws -> Round {
        let end = GrantEnd.allCases[number % GrantEnd.allCases.count]
        let key = SubjectKey.sample("user-\(number)")
        let flip = Int.random(in: 0...1)
        let (here, there) = (replicas.stores[flip], replicas.stores[1 - flip])
        let family = UInt64(number) * 10 + 1
        let begin = Moment(milliseconds: 1_000_000 + Int64(number) * 1000)
        let (grant, account) = try await here.linkWithCode(family, key: key, at: begin)
        let moment = begin.advanced(byMilliseconds: 50)

        async let ended: Void = {
            for _ in 0..<Int.random(in: 0...60) { await Task.yield() }
            try await end.carryOut(grant, of: account, at: there)
        }()
        async let uses = withThrowingTaskGroup(of: GrantRefusal.Code?.self) { group in
            for (use, store) in zip(GrantUse.allCases, [here, there].shuffled()) {
                group.addTask { try await use.carryOut(family, at: moment, of: store) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // A user who agrees once more: what comes after an unlinking is a new grant.
        async let agreed: Bool = {
            guard end != .unlinked else { return false }
            let command = AuthorizeCommand.sample(
                family + 2, account: account.id, authenticatedAt: begin, at: begin)
            return (try? await here.authorize(command)) != nil
        }()
        let refusals = try await uses
        _ = try await (ended, agreed)

        var round = Round(end: end, cameFirst: refusals.map { $0 == nil })
        let isRefused = refusals.contains { $0 != nil }
        if end.isTransfer, isRefused { round.faults.append("\(number): \(refusals) at a transfer") }
        for store in replicas.stores {
            for family in [family, family + 1]
            where try await store.isGood(family, at: moment) != end.isTransfer {
                round.faults.append("\(number): the tokens of a user who was \(end)")
            }
            if try await store.grants(of: account.id).isEmpty == end.keepsGrants {
                round.faults.append("\(number): the grants of a user who was \(end)")
            }
        }
        guard !end.isTransfer, end != .unlinked else { return round }
        // Nor does an agreement from before the end give any now.
        let late = try? await there.redeem(.sample(family + 2, at: moment))
        if late != nil { round.faults.append("\(number): a code of a user who was \(end)") }
        return round
    }
}

/// Thousands of users who sign in and whose tokens are used at two replicas, while the replicas disable them,
/// enable them, and disable them again.
@Suite struct DisablingStormTests {
    private static let rounds = 2000
    private static let workers = 6

    /// Use of an account by its user or by a client.
    private enum Use: CaseIterable {
        /// A sign-in without new facts, which PostgreSQL commits without a lock on the account.
        case signIn
        case refresh
        case redemption
        /// A sign-in in the app, a code for Google, and its redemption.
        case appFlip

        /// Returns false if the account was disabled.
        func carryOut(
            _ family: UInt64, _ account: Account, at moment: Moment, of stores: [PostgresAccountStore]
        ) async throws -> Bool {
            let key = SubjectKey(team: account.team, subject: account.subject)
            do {
                switch self {
                case .signIn: try await Use.signIn(key, at: moment, of: stores[0])
                case .refresh:
                    try await stores[0].refresh(.sample(SampleToken(family: family), at: moment))
                case .redemption: try await stores[0].redeem(.sample(family + 1, at: moment))
                case .appFlip:
                    try await Use.signIn(key, at: moment, of: stores[0])
                    try await stores[1].authorize(
                        .sample(
                            family + 2, account: account.id, client: "google", authenticatedAt: moment,
                            at: moment))
                    try await stores[0].redeem(
                        .sample(family + 2, client: "google", isNative: false, forGoogle: true, at: moment))
                }
                return true
            } catch let refusal as GrantRefusal where refusal.code == .accountDisabled {
                return false
            } catch let refusal as AccountRefusal where refusal.code == .accountDisabled {
                return false
            }
        }

        /// A time after every other sign-in of the user.
        static func signedInAt(_ moment: Moment) -> Moment { moment.advanced(byMilliseconds: 10_000) }

        private static func signIn(
            _ key: SubjectKey, at moment: Moment, of store: PostgresAccountStore
        ) async throws {
            try await store.signIn(
                .sample(key: key, authorizedAt: moment, receivedAt: signedInAt(moment)))
        }
    }

    /// Result of a round.
    private struct Round: Sendable {
        var cameFirst: [(use: Use, isFirst: Bool)] = []
        var faults: [String] = []
    }

    @Test func `leaves no live token and no sign-in of 2,000 users who are disabled at another replica`()
        async throws
    {
        try await Replicas.with { replicas in
            let rounds = try await replicas.play(Self.rounds, workers: Self.workers) {
                try await Self.play($0, in: replicas)
            }
            #expect(rounds.flatMap(\.faults) == [])
            for use in Use.allCases {
                let orders = rounds.flatMap(\.cameFirst).filter { $0.use == use }.map(\.isFirst)
                #expect(orders.contains(true) && orders.contains(false), "\(use): only one order was met")
            }
        }
    }

    private static func play(_ number: Int, in replicas: Replicas) async throws -> Round {
        let key = SubjectKey.sample("user-\(number)")
        let stores = replicas.stores.shuffled()
        let family = UInt64(number) * 10 + 1
        let begin = Moment(milliseconds: 1_000_000 + Int64(number) * 1000)
        let (_, account) = try await stores[0].linkWithCode(family, key: key, at: begin)
        let moment = begin.advanced(byMilliseconds: 50)
        let uses = Use.allCases.shuffled().prefix(Int.random(in: 1...3))

        async let disabled: Account = {
            for _ in 0..<Int.random(in: 0...80) { await Task.yield() }
            if Bool.random() {
                try await stores[1].change(DisableCommand.sample(account, at: moment))
                try await stores[0].change(EnableCommand.sample(account, at: moment))
            }
            return try await stores[1].change(DisableCommand.sample(account, reason: .fraud, at: moment))
        }()
        async let outcomes = withThrowingTaskGroup(of: (Use, Bool).self) { group in
            for use in uses {
                group.addTask {
                    (use, try await use.carryOut(family, account, at: moment, of: stores.shuffled()))
                }
            }
            return try await group.reduce(into: [(use: Use, isFirst: Bool)]()) {
                $0.append((use: $1.0, isFirst: $1.1))
            }
        }
        var round = Round(cameFirst: try await outcomes)
        let found = try await disabled

        func check(_ isRight: Bool, _ fault: String) {
            if !isRight { round.faults.append("\(number): \(fault)") }
        }
        let hasSignedIn = round.cameFirst.contains { $0.use == .signIn && $0.isFirst }
        check(
            !hasSignedIn || found.lastSignInAt == Use.signedInAt(moment),
            "a sign-in that the disabling did not find")
        for store in replicas.stores {
            for family in [family, family + 1, family + 2] {
                check(try await !store.isGood(family, at: moment), "a live token of a disabled account")
            }
            for use in Use.allCases where use != .redemption {
                let isDone = try await use.carryOut(family, account, at: moment, of: [store, store])
                check(!isDone, "\(use) of a disabled account")
            }
        }
        try await stores[0].change(EnableCommand.sample(account, at: moment))
        check(try await stores[1].isGood(family, at: moment), "a token is lost")
        return round
    }
}
