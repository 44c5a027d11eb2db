import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import JOSE
import StrictJSON

/// Handles `GET /auth/keys`.
struct KeySetEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .keys)
        router.get("auth/keys") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, fault in
                try await state.keySet(ifNoneMatch: request.headers[.ifNoneMatch], fault: fault)
            }
        }
    }
}

/// Creates the response to a `/auth/keys` request, before a fault changes it.
enum KeySetResponse {
    /// - Parameters:
    ///   - ifNoneMatch: The header as received (RFC 9110 §13.1.2). The response is 304 if it matches the
    ///     current set.
    ///   - entityTag: True if the response has an `ETag`.
    static func make(
        _ document: KeySetDocument, ifNoneMatch: String?, cacheControl: String?, entityTag isSent: Bool
    ) -> EndpointResponse {
        var response = EndpointResponse(contentType: EndpointResponse.jsonType)
        if let cacheControl { response.headers.append(.init(name: "Cache-Control", value: cacheControl)) }
        if isSent {
            let tag = document.entityTag
            response.headers.append(.init(name: "ETag", value: tag))
            if let ifNoneMatch, matches(ifNoneMatch, tag) {
                response.status = 304
                response.contentType = nil
                return response
            }
        }
        response.body = document.serialized()
        return response
    }

    /// Compares tags weakly (RFC 9110 §8.8.3.2). Splitting at commas is safe, because no tag contains one.
    private static func matches(_ ifNoneMatch: String, _ entityTag: String) -> Bool {
        ifNoneMatch.split(separator: ",").contains { candidate in
            let tag = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || opaque(tag) == opaque(entityTag[...])
        }
    }

    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}

/// The body of `/auth/keys`: a JSON Web Key Set (RFC 7517 §5).
struct KeySetDocument {
    private let keys: [(id: String, key: RSAPrivateKey)]

    /// Generates the keys that nothing has used yet, in parallel. Throws `.keyGenerationFailed`.
    init(_ published: [SigningKey]) async throws {
        try await SigningKey.generate(published)
        var keys: [(id: String, key: RSAPrivateKey)] = []
        for key in published { keys.append((key.keyID, try await key.privateKey)) }
        self.keys = keys
    }

    /// Writes the keys in random order, because Apple's order also changes between responses.
    func serialized() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: keys.count * 480 + 64)
        writer.beginObject()
        writer.name("keys")
        writer.beginArray()
        for (id, key) in keys.shuffled() {
            writer.element()
            writer.value(.object(key.publicJWK(keyID: id)))
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// The tag is weak (RFC 9110 §8.8.1), because the key order changes while the set stays the same.
    var entityTag: String {
        let names = keys.map { "\($0.id) \($0.key.publicKeyPEM)" }
        let digest = SHA256Digest.hash(names.sorted().joined(separator: "\n"))
        return "W/\"\(Base64URL.encode(digest.prefix(12)))\""
    }
}
