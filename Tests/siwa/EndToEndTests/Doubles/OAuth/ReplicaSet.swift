import Synchronization

/// The replicas of a `LinkedSystem`, some of which are down.
final class ReplicaSet: Sendable {
    private let system: LinkedSystem
    private let running: Mutex<[OAuthReplica?]>

    init(_ system: LinkedSystem, count: Int) async throws {
        self.system = system
        var replicas: [OAuthReplica?] = []
        for number in 0..<count { replicas.append(try await system.serve(number)) }
        running = Mutex(replicas)
    }

    /// The running replicas, in any order.
    var all: [OAuthReplica] { running.withLock { $0.compactMap { $0 } }.shuffled() }

    func kill(_ number: Int) async {
        let replica = running.withLock { replicas in
            defer { replicas[number] = nil }
            return replicas[number]
        }
        await replica?.service.kill()
    }

    func start(_ number: Int) async throws {
        let replica = try await system.serve(number)
        running.withLock { $0[number] = replica }
    }

    func stop() async -> [Int32] {
        await all.asyncMap { await $0.service.stop() }
    }
}
