import NIOCore
import NIOHTTP1
import Testing

@testable import HTTPEngine

@Suite struct PipelineQueueTests {
    static let head = HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))

    static func body(_ text: String) -> PipelineQueue.Input {
        .part(.body(ByteBuffer(string: text)))
    }

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
