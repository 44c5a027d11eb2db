import Foundation
import KeySets
import TestSupport

/// Response of Apple's key endpoint from a moment on.
struct AppleAnswer: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case unreachable, status, headers, body
        case bodyFile = "body_file"
        case bodyPadding = "body_padding"
        case bodyEnd = "body_end"
    }

    let unreachable: Bool?
    let status: Int?
    let headers: [String: String]?
    let body, bodyFile, bodyEnd: String?
    let bodyPadding: TokenCase.TokenPart?

    /// - Throws: `KeySetFetchError` `.unreachable` when the endpoint sends no response.
    func response() throws -> KeySetResponse {
        guard let status, unreachable != true else { throw KeySetFetchError(.unreachable) }
        return KeySetResponse(
            status: status, body: try bytes(), contentType: headers?["content-type"],
            entityTag: headers?["etag"],
            cacheControl: headers?["cache-control"])
    }

    private func bytes() throws -> [UInt8] {
        if let bodyFile { return try FixtureFolder("scenarios").bytes(of: bodyFile) }
        let padding = bodyPadding.map { String(repeating: $0.text, count: $0.times ?? 1) }
        return Array([body, padding, bodyEnd].compactMap { $0 }.joined().utf8)
    }
}
