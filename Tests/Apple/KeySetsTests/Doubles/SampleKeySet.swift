import Encodings
import KeySets
import StrictJSON

/// Key sets with keys that pass all checks but have no private keys, because generating real ones takes too
/// long.
enum SampleKeySet {
    static func body(_ keyIDs: [String], generation: UInt8 = 1) -> [UInt8] {
        let entries = keyIDs.map { keyID in
            JSONValue.object(
                JSONObject([
                    ("kty", .string("RSA")), ("kid", .string(keyID)), ("use", .string("sig")),
                    ("alg", .string("RS256")), ("n", .string(modulus(of: keyID, generation))),
                    ("e", .string("AQAB")),
                ]))
        }
        return JSONValue.object(JSONObject([("keys", .array(entries))])).serialized()
    }

    /// A valid key set without a usable key.
    static let withoutUsableKey = Array(
        #"{"keys":[{"kty":"EC","crv":"P-256","kid":"EC","x":"AA","y":"AA"},{"kty":"oct","kid":"o"}]}"#.utf8)

    static func received(_ keyIDs: [String], entityTag: String? = nil) throws -> ReceivedKeySet {
        try ReceivedKeySet(body(keyIDs), entityTag: entityTag)
    }

    static func response(
        _ keyIDs: [String], entityTag: String? = nil, cacheControl: String? = nil
    ) -> KeySetResponse {
        KeySetResponse(
            status: 200, body: body(keyIDs), contentType: "application/json;charset=UTF-8",
            entityTag: entityTag, cacheControl: cacheControl)
    }

    /// A modulus of 2048 bits, odd, different for each key ID.
    private static func modulus(of keyID: String, _ generation: UInt8) -> String {
        var state = keyID.utf8.reduce(UInt64(generation)) { ($0 &* 31) &+ UInt64($1) }
        var bytes = (0..<256).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        bytes[0] |= 0x80
        bytes[255] |= 1
        return Base64URL.encode(bytes)
    }
}
