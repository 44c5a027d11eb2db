import AppleAccounts
import Foundation
import PostgresStorage
import StorageConformance
import Testing

/// Values in the tables after the erasure of a user: none identifies the user.
@Suite struct ErasureTraceTests {
    @Test func `leaves nothing of the user in any table`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let account = try await TracedUser.make(in: store, others: 20)
            let before = try await replicas.dump()
            for trace in TracedUser.lastTraces {
                #expect(before.contains(trace), "\(trace) was there to be erased")
            }

            try await store.erase(.sample(account: account, at: 9000))
            // Apple's late words are not kept either.
            let key = SubjectKey(team: account.team, subject: account.subject)
            try await store.notify(
                .sample(key: key, at: 9500, identifier: "jti-late", payload: "trace-payload-late"))
            let after = try await replicas.dump()
            for trace in TracedUser.traces {
                let isLeft = after.contains(trace)
                #expect(!isLeft, "\(trace) is in a table")
            }
            #expect(after.contains("other-19"))
        }
    }

    @Test func `leaves nothing of a user who was transferred to another team`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            let account = try await TracedUser.make(in: store, others: 20)
            let moved = try await TracedUser.move(account, in: store)
            try await store.erase(.sample(account: moved, at: 9000))
            let after = try await replicas.dump()
            for trace in TracedUser.traces + ["trace-new"] {
                let isLeft = after.contains(trace)
                #expect(!isLeft, "\(trace) is in a table")
            }
        }
    }
}
