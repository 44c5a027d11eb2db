import AppleAccounts
import Commits
import JOSE
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import EventDelivery

/// Polls (RFC 8936): what is handed out, when it comes again, and what ends it.
@Suite(.timeLimit(.hung)) struct EventPollingTests {
    private let world: PollWorld

    init() async throws { world = try await PollWorld() }

    @Test func `a poll hands out one event of each account, and the next when it is taken`() async throws {
        try await world.signIn(1)
        try await world.signIn(2)
        let all = try await world.feedIDs()
        let first = try await world.poll()
        #expect(first.ids == [all[0], all[2]])
        #expect(!first.hasMore)
        #expect(try await world.stored().retries.map(\.attempts) == [1, 0, 1, 0])
        let second = try await world.poll(taken: first.ids)
        #expect(second.ids == [all[1], all[3]])
        #expect(second.taken == 2)
        let third = try await world.poll(taken: second.ids)
        #expect(third.ids.isEmpty && !third.hasMore)
        #expect(try await world.stored().retries.isEmpty)
        #expect(try await world.stored().record.cursor == 4)
    }

    @Test func `a token has the event as its ID, and is signed for the receiver`() async throws {
        try await world.signIn(1)
        let token = try #require(try await world.poll().tokens.first)
        let claims = try world.claims(token)
        #expect(claims["iss"]?.string == PollWorld.issuer)
        #expect(claims["events"]?.object?.members.map(\.name) == ["urn:siwa:event:account-created"])
    }

    @Test func `what is not taken comes again after a minute, then later and later`() async throws {
        try await world.signIn(1)
        let first = try await world.poll()
        for _ in 0..<20 { #expect(try await world.poll().ids.isEmpty) }
        world.clock.advance(by: .seconds(59))
        #expect(try await world.poll().ids.isEmpty)
        world.clock.advance(by: .seconds(17))
        #expect(try await world.poll().ids == first.ids)
        world.clock.advance(by: .seconds(76))
        #expect(try await world.poll().ids.isEmpty)
        world.clock.advance(by: .seconds(75))
        #expect(try await world.poll().ids == first.ids)
    }

    @Test func `a poll can take a part, and the rest comes again`() async throws {
        for user in 1...3 { try await world.signIn(user) }
        let all = try await world.feedIDs()
        let first = try await world.poll()
        #expect(first.ids == [all[0], all[2], all[4]])
        let second = try await world.poll(taken: [all[2]])
        #expect(second.ids == [all[3]])
        world.clock.advance(by: .seconds(76))
        #expect(try await world.poll().ids == [all[0], all[3], all[4]])
    }

    @Test func `a refused token ends like a taken one`() async throws {
        try await world.signIn(1)
        let all = try await world.feedIDs()
        _ = try await world.poll()
        let second = try await world.poll(refused: [all[0]])
        #expect(second.refused == 1 && second.taken == 0)
        #expect(second.ids == [all[1]])
    }

    @Test func `what was not handed out cannot be taken`() async throws {
        try await world.signIn(1)
        let all = try await world.feedIDs()
        let stranger = EventID(UniqueID(high: 1, low: 2))
        let early = try await world.poll(taken: all + [stranger])
        #expect(early.taken == 0)
        #expect(early.ids == [all[0]])
        // The second event of the account waits behind the first, and was not handed out.
        let ahead = try await world.poll(taken: [all[1]])
        #expect(ahead.taken == 0 && ahead.ids.isEmpty)
        #expect(try await world.poll(taken: [all[0]]).ids == [all[1]])
    }

    @Test func `a poll gets as many tokens as it asks for, and hears that there are more`() async throws {
        for user in 1...5 { try await world.signIn(user) }
        let all = try await world.feedIDs()
        let none = try await world.poll(most: 0)
        #expect(none.ids.isEmpty && none.hasMore)
        let two = try await world.poll(most: 2)
        #expect(two.ids == [all[0], all[2]])
        #expect(two.hasMore)
        let rest = try await world.poll(most: 3)
        #expect(rest.ids == [all[4], all[6], all[8]])
        let taken = try await world.poll(most: 0, taken: two.ids)
        #expect(taken.taken == 2 && taken.ids.isEmpty && taken.hasMore)
        #expect(try await world.poll().ids == [all[1], all[3]])
    }

    @Test func `every event of a long feed arrives once, in order for each account`() async throws {
        for round in 0..<8 {
            for user in 1...40 { try await world.signIn(user, name: "Ada \(round)") }
        }
        let events = try await world.store.allEvents()
        var got: [EventID] = []
        var taken: [EventID] = []
        repeat {
            let response = try await world.poll(taken: taken)
            #expect(response.ids.count <= PollRequest.mostTokens)
            #expect(try await world.stored().retries.count <= DeliveryRetry.mostPerReceiver)
            taken = response.ids
            got += taken
        } while !taken.isEmpty
        #expect(got.count == events.count)
        #expect(Set(got) == Set(events.map(\.id)))
        for (_, own) in Dictionary(grouping: events, by: \.accountID) {
            let ids = Set(own.map(\.id))
            #expect(got.filter(ids.contains) == own.map(\.id))
        }
    }

    @Test func `a receiver that takes nothing fills its bound, and no more`() async throws {
        for user in 1...300 { try await world.signIn(user) }
        var count = 0
        for _ in 0..<10 { count += try await world.poll().ids.count }
        // Each account has two events, of which the second waits behind the first.
        #expect(count == DeliveryRetry.mostPerReceiver / 2)
        #expect(try await world.stored().retries.count == DeliveryRetry.mostPerReceiver)
        #expect(try await world.stored().record.cursor == 256)
    }

    @Test(arguments: 1...3)
    func `polls at two replicas lose nothing, and hand nothing out twice`(seed: UInt64) async throws {
        for user in 1...60 { try await world.signIn(user) }
        let ids = Set(try await world.feedIDs())
        let other = EventPolling(
            store: world.store, feed: EventFeed(), clock: world.clock, now: { world.now }, logger: .silent)
        @Sendable func run(_ polling: EventPolling) async throws -> [EventID] {
            var got: [EventID] = []
            var taken: [EventID] = []
            var idle = 0
            while idle < 20 {
                let response: PollResponse
                do {
                    response = try await polling.poll(
                        world.receiver, PollRequest(mostTokens: 7, isImmediate: true, taken: Set(taken)))
                } catch is OverloadedError {
                    // Others were faster again and again. Nothing was taken.
                    continue
                }
                taken = response.ids
                got += taken
                idle = taken.isEmpty ? idle + 1 : 0
                await Task.yield()
            }
            return got
        }
        let got = try await withThrowingTaskGroup(of: [EventID].self) { group in
            for polling in [world.polling, other, world.polling, other] {
                group.addTask { try await run(polling) }
            }
            return try await group.reduce([], +)
        }
        #expect(Set(got) == ids)
        #expect(got.count == ids.count)
        #expect(try await world.stored().retries.isEmpty)
    }

    @Test func `a poll waits for an event, and gets it with the commit`() async throws {
        let polling = Task { try await world.polling.poll(world.receiver, PollRequest()) }
        try await eventually { world.clock.deadlines.count == 1 }
        try await world.signIn(1)
        // The pause between two reads goes on.
        try await eventually {
            world.clock.advance(by: .milliseconds(100))
            return try await !world.stored().retries.isEmpty
        }
        #expect(try await polling.value.ids == [try await world.feedIDs()[0]])
    }

    @Test func `a poll without an event ends after thirty seconds`() async throws {
        let polling = Task { try await world.polling.poll(world.receiver, PollRequest()) }
        for _ in 0..<6 {
            try await eventually { !world.clock.deadlines.isEmpty }
            world.clock.advance(by: .seconds(5))
        }
        let response = try await polling.value
        #expect(response.ids.isEmpty && !response.hasMore)
    }

    @Test func `a poll that waits ends with its task`() async throws {
        let polling = Task { try await world.polling.poll(world.receiver, PollRequest()) }
        try await eventually { !world.clock.deadlines.isEmpty }
        polling.cancel()
        #expect(try await polling.value.ids.isEmpty)
    }

    @Test func `more polls of one receiver than the bound do not wait`() async throws {
        let polls = (0..<EventPolling.mostWaiting).map { _ in
            Task { try await world.polling.poll(world.receiver, PollRequest()) }
        }
        try await eventually { world.clock.deadlines.count == EventPolling.mostWaiting }
        await #expect(throws: OverloadedError.self) {
            try await world.polling.poll(world.receiver, PollRequest())
        }
        #expect(try await world.poll().ids.isEmpty)
        for poll in polls { poll.cancel() }
        for poll in polls { _ = try await poll.value }
        // The places are free again.
        let next = Task { try await world.polling.poll(world.receiver, PollRequest()) }
        try await eventually { world.clock.deadlines.count == 1 }
        next.cancel()
        #expect(try await next.value.ids.isEmpty)
    }

    @Test func `a receiver gets only the events that it wants`() async throws {
        let world = try await PollWorld(kinds: [.profileChanged])
        for user in 1...200 { try await world.signIn(user) }
        try await world.signIn(7, name: "Ada")
        let response = try await world.poll()
        #expect(response.ids == [try await world.feedIDs()[400]])
    }

    @Test func `a receiver that takes nothing for seven days is paused until it is resumed`() async throws {
        try await world.signIn(1)
        _ = try await world.poll()
        world.clock.advance(by: .seconds(7 * 86_400))
        _ = try await world.poll()
        #expect(try await world.stored().record.pausedAt == world.now)
        await #expect(throws: ReceiverPaused()) { try await world.poll() }
        #expect(try await world.store.resumeReceiver("backend", at: world.now))
        let again = try await world.poll()
        #expect(again.ids == [try await world.feedIDs()[0]])
        #expect(try await world.poll(taken: again.ids).taken == 1)
    }

    @Test func `a verification comes with the next poll, once, before the events`() async throws {
        try await world.signIn(1)
        let verification = StreamVerification(id: EventID(UniqueID(high: 5, low: 6)), state: "abc")
        let result = try await world.store.requestVerification(verification, of: "backend", at: world.now)
        #expect(result == .accepted)
        let response = try await world.poll()
        #expect(response.ids == [verification.id, try await world.feedIDs()[0]])
        let claims = try world.claims(try #require(response.tokens.first))
        #expect(claims["sub_id"]?["format"]?.string == "opaque")
        #expect(claims["sub_id"]?["id"]?.string == "backend")
        let type = "https://schemas.openid.net/secevent/ssf/event-type/verification"
        #expect(claims["events"]?[type]?["state"]?.string == "abc")
        #expect(claims["toe"] == nil)
        world.clock.advance(by: .seconds(76))
        #expect(try await world.poll(taken: [verification.id]).ids == [try await world.feedIDs()[0]])
    }
}

/// A store, a stopped clock, and polls of one receiver.
struct PollWorld {
    static let issuer = "https://signin.example.com"

    let store = ReferenceStore()
    let feed = EventFeed()
    let clock = ManualClock(millisecondsSince1970: DeliveryWorld.start)
    let polling: EventPolling
    let receiver: PolledReceiver
    let key: TokenSigningKey

    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    /// - Parameter client: Makes the receiver the stream of this OAuth client.
    init(
        client: OAuthClientID? = nil, kinds: Set<AccountEvent.Kind> = Set(AccountEvent.Kind.allCases),
        scope: AppScope = .all
    ) async throws {
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        self.key = key
        let name = client.map { ReceiverName(of: $0) } ?? "backend"
        let format: any EventFormat
        if let client {
            format = ClientEventFormat(issuer: Self.issuer, client: client, store: store) { key }
        } else {
            format = SecurityEventFormat(issuer: Self.issuer, audience: "billing") { key }
        }
        receiver = PolledReceiver(name: name, kinds: kinds, scope: scope, format: format)
        polling = EventPolling(
            store: store, feed: feed, clock: clock,
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
        try await store.addReceivers([name], at: now)
    }

    func signIn(_ user: Int, name: String? = nil) async throws {
        try await store.signIn(
            .sample(
                key: DeliveryWorld.key(user), authorizedAt: now, firstName: name, receivedAt: now))
        feed.advance(to: try await store.lastEventSequence())
    }

    /// Polls without a wait.
    func poll(
        most: Int = PollRequest.mostTokens, taken: [EventID] = [], refused: [EventID] = []
    ) async throws -> PollResponse {
        try await polling.poll(
            receiver,
            PollRequest(mostTokens: most, isImmediate: true, taken: Set(taken), refused: Set(refused)))
    }

    func feedIDs() async throws -> [EventID] { try await store.allEvents().map(\.id) }

    func stored() async throws -> ClaimedReceiver { try #require(try await store.receiver(receiver.name)) }

    func claims(_ token: PollResponse.Token, audience: String = "billing") throws -> JSONObject {
        let jws = try TypedJWS(parsing: Array(token.text.utf8))
        #expect(jws.isSigned(by: key.verificationKey))
        let claims = try #require(try JSONValue(parsing: jws.payload).object)
        #expect(claims["aud"]?.string == audience)
        #expect(claims["jti"]?.string == token.id.rawValue)
        return claims
    }
}

extension PollResponse {
    var ids: [EventID] { tokens.map(\.id) }
}
