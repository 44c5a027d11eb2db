import StrictJSON
import TestSupport
import Testing

@testable import ReceiverEmulator

@Suite(.timeLimit(.hung)) struct MessageLogTests {
    private static func message(
        _ id: String, user: String = "acc_1", recordedAt: Int64 = 0, at receiver: EmulatedReceiver = .webhook,
        content: String = ""
    ) -> ReceivedMessage {
        let event = EventFacts(id: id, type: "t", uri: nil, user: user, recordedAt: recordedAt)
        return ReceivedMessage(receiver, at: 0, .success(event), content: content)
    }

    @Test func `keeps the latest 200 messages, and 8192 characters of each`() {
        var log = MessageLog()
        let long = String(repeating: "x", count: 10_000)
        for number in 0...MessageLog.capacity {
            let added = log.add(Self.message("\(number)", content: long))
            log.answer(added, status: 204)
        }
        #expect(log.messages.map(\.number) == Array(2...201))
        #expect(log.messages.allSatisfy { $0.content.count == 8192 })
        // The answer to a message that was dropped meanwhile.
        log.answer(1, status: 500)
        #expect(log.messages.allSatisfy { $0.status == 204 })
    }

    @Test func `recognizes repetitions among the latest 2000 events`() {
        var log = MessageLog()
        for number in 0...MessageLog.mostKnown {
            log.answer(log.add(Self.message("\(number)", user: "\(number)")), status: 204)
        }
        _ = log.add(Self.message("1"))
        #expect(log.messages.last?.isDuplicate == true)
        // The oldest is forgotten.
        _ = log.add(Self.message("0"))
        #expect(log.messages.last?.isDuplicate == false)
    }

    @Test func `a table drops its oldest key, and a change makes no key younger`() {
        var table = BoundedTable<Int, Int>(capacity: 3)
        for key in 0..<3 { table[key] = key }
        table[0] = 10
        table[3] = 3
        table[4] = 4
        #expect((0..<5).map { table[$0] } == [nil, nil, 2, 3, 4])
        #expect(table.count == 3)
    }

    @Test func `an event that was not taken is no duplicate when it comes again`() {
        var log = MessageLog()
        log.answer(log.add(Self.message("a")), status: 500)
        log.answer(log.add(Self.message("a")), status: 204)
        _ = log.add(Self.message("a"))
        #expect(log.messages.map(\.isDuplicate) == [false, false, true])
        #expect(log.messages.map(\.arrival) == [1, 2, 3])
        // Each receiver has its own.
        _ = log.add(Self.message("a", at: .push))
        #expect(log.messages.last?.arrival == 1)
    }

    @Test func `sees when the events of one account are out of order`() {
        var log = MessageLog()
        for (id, user, recordedAt) in [
            ("a", "acc_1", 20), ("b", "acc_2", 10), ("c", "acc_1", 10), ("d", "acc_1", 20),
            ("a", "acc_1", 20),
        ] as [(String, String, Int64)] {
            log.answer(log.add(Self.message(id, user: user, recordedAt: recordedAt)), status: 204)
        }
        #expect(log.messages.map(\.isInOrder) == [true, true, false, true, true])
    }

    @Test func `a full log of the largest bodies stays a page of bounded size`() async throws {
        try await ReceiverUnderTest.run { receiver in
            let body = String(repeating: "<", count: 16 * 1024)
            for _ in 0..<(MessageLog.capacity + 1) {
                _ = try await receiver.postWebhook(body)
            }
            #expect(receiver.state.messages.count == 200)
            let page = try await receiver.get("/")
            #expect(page.status == 200)
            // Each of 50 messages has 8192 characters, of which every one is escaped.
            #expect(page.text.utf8.count < 50 * (8192 * 4 + 2048))
        }
    }
}
