import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import Synchronization

/// Forwards requests of a backend to the service, and holds or replaces responses for a test.
final class DisturbingProxy: Sendable {
    /// A response that replaces the service's response.
    struct Fault: Sendable {
        /// Part of the path and query of the affected requests.
        let target: String
        let status: HTTPResponse.Status
        let content: String
        /// Number of requests that get this response.
        var times: Int

        init(target: String, status: HTTPResponse.Status, content: String, times: Int) {
            (self.target, self.status, self.content, self.times) = (target, status, content, times)
        }

        /// Makes a response with a problem.
        init(target: String, status: HTTPResponse.Status, code: String, times: Int) {
            self.init(target: target, status: status, content: #"{"code":"\#(code)"}"#, times: times)
        }
    }

    private struct Rewrite {
        let target: String
        let change: @Sendable (String) -> String
    }

    private struct State {
        var faults: [Fault] = []
        var rewrites: [Rewrite] = []
        var targets: [String] = []
        var heldTarget: String?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let service: String
    private let address: String
    private let state = Mutex(State())

    private init(port: Int, service: String) {
        (self.service, address) = (service, "http://127.0.0.1:\(port)")
    }

    /// - Parameter body: Function that receives the proxy and its address.
    static func run<Result: Sendable>(
        before service: String, _ body: @Sendable (DisturbingProxy, String) async throws -> Result
    ) async throws -> Result {
        try await LoopbackServer.run(
            make: { DisturbingProxy(port: $0, service: service) }, respond: { try await $0.respond(to: $1) }
        ) { proxy in
            defer { proxy.release() }
            return try await body(proxy, proxy.address)
        }
    }

    func add(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }

    /// Holds the responses of requests whose path and query contains the text, also of running requests.
    func hold(_ target: String) { state.withLock { $0.heldTarget = target } }

    /// True while a response is held.
    var isHolding: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// - Parameter next: Text of the requests whose responses are held afterwards.
    func release(thenHold next: String? = nil) {
        let waiting = state.withLock { state in
            defer { (state.heldTarget, state.waiting) = (next, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Changes the responses of requests whose path and query contains the text.
    func rewrite(_ target: String, _ change: @escaping @Sendable (String) -> String) {
        state.withLock { $0.rewrites.append(Rewrite(target: target, change: change)) }
    }

    func stopRewriting() { state.withLock { $0.rewrites = [] } }

    /// Path and query of all requests so far.
    var targets: [String] { state.withLock { $0.targets } }

    private func respond(to request: Request) async throws -> Response {
        let target = request.uri.string
        state.withLock { $0.targets.append(target) }
        if let fault = takeFault(for: target) { return fault }
        var call = HTTPClientRequest(url: service + target)
        call.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in [HTTPField.Name.authorization, .contentType] {
            if let value = request.headers[field] { call.headers.add(name: field.rawName, value: value) }
        }
        call.body = .bytes(try await request.body.collect(upTo: 1 << 20))
        let response = try await HTTPClient.shared.execute(call, timeout: .seconds(60))
        let content = rewritten(try await response.body.collect(upTo: 1 << 20), of: target)
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                guard let held = state.heldTarget, target.contains(held) else { return true }
                state.waiting.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
        }
        // A fault can be added while the response is held.
        if let fault = takeFault(for: target) { return fault }
        return Response(
            status: HTTPResponse.Status(code: Int(response.status.code)),
            headers: [.contentType: response.headers.first(name: "Content-Type") ?? "application/json"],
            body: ResponseBody(byteBuffer: content))
    }

    private func rewritten(_ content: ByteBuffer, of target: String) -> ByteBuffer {
        let rewrites = state.withLock { $0.rewrites }.filter { target.contains($0.target) }
        guard !rewrites.isEmpty else { return content }
        let text = rewrites.reduce(String(buffer: content)) { $1.change($0) }
        return ByteBuffer(string: text)
    }

    private func takeFault(for target: String) -> Response? {
        let fault = state.withLock { state -> Fault? in
            let index = state.faults.firstIndex { $0.times > 0 && target.contains($0.target) }
            guard let index else { return nil }
            state.faults[index].times -= 1
            return state.faults[index]
        }
        return fault.map { fault in
            Response(
                status: fault.status, headers: [.contentType: "application/problem+json", .retryAfter: "1"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: fault.content)))
        }
    }
}
