import KeySets
import Logging
import PostgresCluster
import PostgresStorage
import TestSupport
import Testing

@Suite struct KeySetSnapshotTests {
    @Test func `keeps the newest set, whichever replica saves last`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        let one = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        let other = try await PostgresDatabase.open(url: url, connections: 1, logger: .silent)
        #expect(try await one.keySetSnapshots.load() == nil)
        let old = KeySetSnapshot(body: [1, 2], entityTag: "a", fetchedAt: 10, freshUntil: 20)
        let new = KeySetSnapshot(body: [0, 255], entityTag: nil, fetchedAt: 11, freshUntil: 19)
        try await one.keySetSnapshots.save(old)
        #expect(try await other.keySetSnapshots.load() == old)
        try await other.keySetSnapshots.save(new)
        try await one.keySetSnapshots.save(old)
        #expect(try await one.keySetSnapshots.load() == new)
        await one.close()
        await other.close()
    }
}
