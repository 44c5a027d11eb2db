import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// The response of a refusal to the app: a status and a code.
struct Refused: HTTPResponseError {
    /// The reason why siwa refuses a proof of App Attest.
    struct Proof {
        let cause: String
        /// True if the app can go on with a new key.
        let reAttest: Bool
    }

    let status: HTTPResponse.Status
    let code: String
    var proof: Proof?

    init(_ status: HTTPResponse.Status, _ code: String, _ proof: Proof? = nil) {
        (self.status, self.code, self.proof) = (status, code, proof)
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let more = proof.map { #","cause":"\#($0.cause)","re_attest":\#($0.reAttest)"# } ?? ""
        let content = ByteBuffer(string: #"{"error":"\#(code)"\#(more)}"#)
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: content))
    }
}

/// Calls siwa.
struct Siwa: Sendable {
    /// Thrown when siwa does not accept the API key, or the server is not siwa. The app gets a 500.
    struct Misconfigured: Error, CustomStringConvertible { let description: String }

    private struct Problem: Decodable {
        let code: String
        let cause: String?
        let re_attest: Bool?
    }

    let url: String
    let key: String

    /// Sends a call, and reads the response.
    func send<Result: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: (any Encodable & Sendable)? = nil,
        timeout: TimeAmount = .seconds(12)
    ) async throws -> Result {
        try await send(method, path, body, timeout) { try? JSONDecoder().decode(Result.self, from: $0) }
    }

    /// Sends a call, and returns the response for the app, unchanged.
    func forward(
        _ method: HTTPMethod, _ path: String, _ body: (any Encodable & Sendable)? = nil
    ) async throws -> ByteBuffer {
        try await send(method, path, body, .seconds(12)) { ByteBuffer(bytes: $0) }
    }

    /// Sends a call. All calls of this program can be repeated, so a call with an unknown outcome is sent
    /// again.
    ///
    /// - Parameter read: Returns `nil` for a response that has not arrived as a whole.
    private func send<Result>(
        _ method: HTTPMethod, _ path: String, _ body: (any Encodable & Sendable)?, _ timeout: TimeAmount,
        read: (Data) -> Result?
    ) async throws -> Result {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(try JSONEncoder().encode(body))
        }
        for attempt in 1...3 {
            var pause = 1
            if let (response, data) = try? await Self.execute(request, timeout) {
                let status = Int(response.status.code)
                if status < 400, let result = read(data) { return result }
                if (400..<500).contains(status), status != 429 { throw Self.refusal(status, data) }
                let seconds = response.headers.first(name: "Retry-After").flatMap { Int($0) }
                pause = min(max(seconds ?? 1, 1), 5)
            }
            // This also ends the attempts when the program stops.
            if attempt < 3 { try await Task.sleep(for: .seconds(pause)) }
        }
        Logger(label: "siwa").error("siwa does not answer at \(url); requests that need it get 503")
        throw Refused(.serviceUnavailable, "try_again")
    }

    private static func execute(
        _ request: HTTPClientRequest, _ timeout: TimeAmount
    ) async throws -> (HTTPClientResponse, Data) {
        let response = try await HTTPClient.shared.execute(request, timeout: timeout)
        return (response, Data(try await response.body.collect(upTo: 4 << 20).readableBytesView))
    }

    private static func refusal(_ status: Int, _ data: Data) -> any Error {
        let problem = try? JSONDecoder().decode(Problem.self, from: data)
        guard let problem, !problem.code.hasPrefix("caller_") else {
            return Misconfigured(
                description: "siwa answers \(status) \(problem?.code ?? ""): check SIWA_URL and SIWA_KEY")
        }
        let proof = problem.cause.map { Refused.Proof(cause: $0, reAttest: problem.re_attest ?? false) }
        return Refused(.init(code: status), problem.code, proof)
    }
}
