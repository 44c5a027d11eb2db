import NIOCore
import NIOHTTP1
import Testing

@testable import HTTPEngine

@Suite struct ConnectionStateTests {
    static let limits = {
        var limits = ServerLimits()
        limits.bodyBytes = 100
        limits.requestTime = .seconds(15)
        limits.workTime = .seconds(10)
        limits.idleTime = .seconds(60)
        limits.unreadResponseTime = .seconds(10)
        limits.lingerTime = .seconds(2)
        return limits
    }()

    static func at(_ seconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000_000) + .seconds(seconds)
    }

    /// A connection with a complete request at 1 s.
    static func responding(keepsAlive: Bool = true) -> ConnectionState {
        var state = ConnectionState(limits: limits, openedAt: at(0))
        state.bytesArrived(at: at(1))
        #expect(state.headArrived(announcing: nil, keepsAlive: keepsAlive, at: at(1)) == .collectBody)
        state.endArrived()
        return state
    }

    @Test func `a new connection that stays silent is closed after the time of a request`() {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        #expect(state.timerFired(at: Self.at(14)) == .wait(until: Self.at(15)))
        #expect(state.timerFired(at: Self.at(15)) == .close)
    }

    @Test func `a request has its time from its first byte, and no byte renews it`() {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        state.bytesArrived(at: Self.at(5))
        state.bytesArrived(at: Self.at(12))
        #expect(state.headArrived(announcing: 50, keepsAlive: true, at: Self.at(13)) == .collectBody)
        #expect(state.bodyArrived(byteCount: 10) == .keep)
        #expect(state.timerFired(at: Self.at(19)) == .wait(until: Self.at(20)))
        #expect(state.timerFired(at: Self.at(20)) == .respondTimeout)
    }

    @Test func `an answer that does not come is given up in time, and the connection with it`() {
        var state = Self.responding()
        state.workBegan(at: Self.at(1))
        #expect(state.timerFired(at: Self.at(10)) == .wait(until: Self.at(11)))
        #expect(state.timerFired(at: Self.at(11)) == .respondUnavailable)
        #expect(state.isLastResponse)
        #expect(state.responded(at: Self.at(11)) == .closeWhenWritten)
    }

    @Test func `a request that came slowly has as much time as any once it is here`() {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        _ = state.headArrived(announcing: 50, keepsAlive: true, at: Self.at(0))
        state.endArrived()
        state.workBegan(at: Self.at(12))
        #expect(state.timerFired(at: Self.at(12)) == .wait(until: Self.at(22)))
        #expect(state.responded(at: Self.at(12)) == .keepOpen)
    }

    @Test func `a call may wait by intention beside`() {
        var state = Self.responding()
        state.workBegan(at: Self.at(1), waiting: .seconds(30))
        #expect(state.timerFired(at: Self.at(40)) == .wait(until: Self.at(41)))
        #expect(state.timerFired(at: Self.at(41)) == .respondUnavailable)
    }

    @Test func `a client that reads again still gets its answer in time`() {
        var state = Self.responding()
        state.stalled(at: Self.at(2))
        state.workBegan(at: Self.at(1))
        #expect(state.deadline == Self.at(12))
        state.drained(at: Self.at(5))
        #expect(state.deadline == Self.at(11))
    }

    @Test func `an answer that waits for nothing has no bound`() {
        var state = Self.responding()
        #expect(state.timerFired(at: Self.at(1000)) == .rest)
        #expect(state.responded(at: Self.at(1000)) == .keepOpen)
        #expect(state.timerFired(at: Self.at(1059)) == .wait(until: Self.at(1060)))
        #expect(state.timerFired(at: Self.at(1060)) == .close)
    }

    @Test(arguments: [(100, ConnectionState.HeadAction.collectBody), (101, .refuseTooLarge)])
    func `the announced size is bounded`(size: Int, action: ConnectionState.HeadAction) {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        #expect(state.headArrived(announcing: size, keepsAlive: true, at: Self.at(0)) == action)
    }

    @Test func `the received size is bounded, and counted for each request anew`() {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        for _ in 0..<2 {
            _ = state.headArrived(announcing: nil, keepsAlive: true, at: Self.at(0))
            #expect(state.bodyArrived(byteCount: 60) == .keep)
            #expect(state.bodyArrived(byteCount: 40) == .keep)
            state.endArrived()
            _ = state.responded(at: Self.at(0))
        }
        _ = state.headArrived(announcing: nil, keepsAlive: true, at: Self.at(0))
        #expect(state.bodyArrived(byteCount: 101) == .refuseTooLarge)
    }

    @Test
    func `the last answer closes the connection when it is written, or when the client does not read it`() {
        var state = Self.responding(keepsAlive: false)
        #expect(state.isLastResponse)
        #expect(state.responded(at: Self.at(2)) == .closeWhenWritten)
        #expect(state.timerFired(at: Self.at(11)) == .wait(until: Self.at(12)))
        #expect(state.timerFired(at: Self.at(12)) == .close)
    }

    @Test func `a refused client may go on for a moment only`() {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        state.bytesArrived(at: Self.at(1))
        state.refused(at: Self.at(3))
        #expect(state.phase == .closing)
        #expect(state.timerFired(at: Self.at(5)) == .close)
    }

    @Test func `a client that does not read is closed, whatever it is doing`() {
        var waiting = Self.responding()
        _ = waiting.responded(at: Self.at(2))
        waiting.stalled(at: Self.at(3))
        #expect(waiting.timerFired(at: Self.at(13)) == .close)

        var responding = Self.responding()
        responding.stalled(at: Self.at(3))
        #expect(responding.timerFired(at: Self.at(13)) == .close)
    }

    @Test func `the end of a request is no reading`() {
        var state = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        _ = state.headArrived(announcing: nil, keepsAlive: true, at: Self.at(1))
        state.stalled(at: Self.at(2))
        state.endArrived()
        #expect(state.deadline == Self.at(12))
        #expect(state.timerFired(at: Self.at(12)) == .close)
    }

    @Test func `a client that reads again is as good as any`() {
        var state = Self.responding()
        state.stalled(at: Self.at(3))
        state.drained(at: Self.at(12))
        #expect(state.timerFired(at: Self.at(13)) == .rest)
        _ = state.responded(at: Self.at(14))
        #expect(state.deadline == Self.at(74))
    }

    @Test func `an end of input closes when nothing is owed`() {
        var idle = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        #expect(idle.inputEnded(at: Self.at(1)) == .closeWhenWritten)
        var half = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        half.bytesArrived(at: Self.at(1))
        #expect(half.inputEnded(at: Self.at(2)) == .closeWhenWritten)
        var owing = Self.responding()
        #expect(owing.inputEnded(at: Self.at(2)) == .finishResponse)
        #expect(owing.responded(at: Self.at(3)) == .closeWhenWritten)
    }

    @Test func `a shutdown finishes what was begun and begins nothing`() {
        var idle = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        #expect(idle.quiesce(at: Self.at(1)) == .closeWhenWritten)
        var receiving = ConnectionState(limits: Self.limits, openedAt: Self.at(0))
        receiving.bytesArrived(at: Self.at(1))
        #expect(receiving.quiesce(at: Self.at(2)) == .finishResponse)
        _ = receiving.headArrived(announcing: nil, keepsAlive: true, at: Self.at(2))
        receiving.endArrived()
        #expect(receiving.responded(at: Self.at(3)) == .closeWhenWritten)
    }
}

@Suite struct PipelineQueueTests {
    static let head = HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))

    static func body(_ text: String) -> PipelineQueue.Input { .part(.body(ByteBuffer(string: text))) }

    /// Content of the queue, in words.
    static func drain(_ arrivals: inout PipelineQueue) -> [String] {
        var words: [String] = []
        while let arrival = arrivals.popFirst() {
            switch arrival {
            case .part(.head): words.append("head")
            case .part(.body(let bytes)): words.append(String(buffer: bytes))
            case .part(.end): words.append("end")
            case .inputEnded: words.append("closed")
            case .refused(let refusal): words.append("\(refusal)")
            }
        }
        return words
    }

    @Test func `keeps what arrived in its order, and a body in one piece`() {
        var arrivals = PipelineQueue(mostRequests: 2)
        #expect(arrivals.isEmpty)
        for _ in 0..<2 {
            arrivals.append(.part(Self.head))
            for letter in ["a", "b", "c"] { arrivals.append(Self.body(letter)) }
            arrivals.append(.part(.end(nil)))
        }
        arrivals.append(.inputEnded)
        #expect(!arrivals.isEmpty)
        #expect(Self.drain(&arrivals) == ["head", "abc", "end", "head", "abc", "end", "closed"])
        #expect(arrivals.isEmpty)
    }

    @Test func `refuses one request more, and takes nothing behind it`() {
        var arrivals = PipelineQueue(mostRequests: 2)
        for _ in 0..<100 {
            arrivals.append(.part(Self.head))
            arrivals.append(.part(.end(nil)))
        }
        arrivals.append(.inputEnded)
        #expect(Self.drain(&arrivals) == ["head", "end", "head", "end", "overloaded"])
    }

    @Test func `counts those that wait, not those that have`() {
        var arrivals = PipelineQueue(mostRequests: 1)
        for _ in 0..<10 {
            arrivals.append(.part(Self.head))
            arrivals.append(.part(.end(nil)))
            #expect(Self.drain(&arrivals) == ["head", "end"])
        }
    }

    @Test func `takes nothing behind a refusal of any kind`() {
        var arrivals = PipelineQueue(mostRequests: 8)
        arrivals.append(.part(Self.head))
        for _ in 0..<10 { arrivals.append(.refused(.headerTooLarge)) }
        #expect(Self.drain(&arrivals) == ["head", "headerTooLarge"])
    }
}

@Suite struct BodyMemoryBudgetTests {
    @Test func `shares take what is left, and give it back with their end`() {
        let budget = BodyMemoryBudget(most: 100)
        let first = BodyMemoryBudget.Reservation(of: budget)
        #expect(first.grow(to: 40))
        #expect(first.grow(to: 60))
        do {
            let second = BodyMemoryBudget.Reservation(of: budget)
            #expect(second.grow(to: 40))
            #expect(!second.grow(to: 41))
            #expect(!first.grow(to: 61))
            withExtendedLifetime(second) {}
        }
        #expect(first.grow(to: 100))
        #expect(!first.grow(to: 101))
    }
}
