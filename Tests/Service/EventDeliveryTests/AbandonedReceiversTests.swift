import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@testable import EventDelivery

@Suite struct AbandonedReceiversTests {
    private static func watch(_ world: PollWorld) -> AbandonedReceivers {
        AbandonedReceivers(
            receivers: [world.receiver], store: world.store, clock: world.clock, now: { world.now },
            logger: .silent)
    }

    @Test func `a receiver that never polls is paused when an event has waited for seven days`() async throws
    {
        let world = try await PollWorld()
        let watch = Self.watch(world)
        world.clock.advance(by: .seconds(8 * 86_400))
        await watch.look(at: world.receiver)
        // There was nothing to take.
        #expect(try await world.stored().record.pausedAt == nil)
        try await world.signIn(1)
        world.clock.advance(by: .seconds(7 * 86_400 - 1))
        await watch.look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == nil)
        world.clock.advance(by: .seconds(1))
        await watch.look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == world.now)
    }

    @Test func `a receiver that took nothing and stays away is paused`() async throws {
        let world = try await PollWorld()
        try await world.signIn(1)
        _ = try await world.poll()
        world.clock.advance(by: .seconds(7 * 86_400))
        await Self.watch(world).look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == world.now)
    }

    @Test func `events of others pause no client`() async throws {
        let world = try await PollWorld(client: "shop")
        for user in 1...100 { try await world.signIn(user) }
        world.clock.advance(by: .seconds(8 * 86_400))
        await Self.watch(world).look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == nil)
    }

    @Test func `a resumed receiver has seven days again`() async throws {
        let world = try await PollWorld()
        let watch = Self.watch(world)
        try await world.signIn(1)
        world.clock.advance(by: .seconds(8 * 86_400))
        await watch.look(at: world.receiver)
        #expect(try await world.store.resumeReceiver("backend", at: world.now))
        await watch.look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == nil)
        #expect(try await world.poll().ids == [try await world.feedIDs()[0]])
    }
}
