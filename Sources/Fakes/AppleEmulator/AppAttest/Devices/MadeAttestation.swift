import Encodings
import StrictJSON

/// An attestation of a fake device.
public struct MadeAttestation: Sendable {
    public let key: DeviceKey
    /// In base64. Another key's ID if the recipe has `AttestationFault.keyID`.
    public let shownKeyID: String
    public let publicKey: [UInt8]
    public let clientDataHash: [UInt8]
    public let object: [UInt8]

    var json: JSONObject {
        JSONObject([
            ("key_id", .string(shownKeyID)), ("attestation", .string(Base64.encode(object))),
            ("public_key", .string(Base64.encode(publicKey))),
            ("client_data_hash", .string(Base64.encode(clientDataHash))), ("app_id", .string(key.appID)),
            ("environment", .string(key.environment.rawValue)), ("counter", .integer(0)),
        ])
    }

    /// The body of the request that registers the key at the service, with the challenge if it is known.
    func registration(_ challenge: String?) -> JSONObject {
        var json = JSONObject([
            ("key_id", .string(shownKeyID)), ("attestation", .string(Base64.encode(object))),
        ])
        json["challenge"] = challenge.map { .string($0) }
        // After the team ID and the first dot.
        json["client_id"] = .string(String(key.appID.split(separator: ".", maxSplits: 1).last ?? ""))
        return json
    }
}

/// An assertion of a fake device.
public struct MadeAssertion: Sendable {
    public let keyID: String
    public let counter: UInt32
    public let clientDataHash: [UInt8]
    /// The text of which the hash is; `nil` when only the hash is known.
    public let clientData: String?
    public let object: [UInt8]

    var json: JSONObject {
        var json = JSONObject([
            ("key_id", .string(keyID)), ("assertion", .string(Base64.encode(object))),
            ("client_data_hash", .string(Base64.encode(clientDataHash))),
            ("counter", .integer(Int64(counter))),
        ])
        json["client_data"] = clientData.map { .string($0) }
        return json
    }

    /// The member `attestation` of a sign-in, if the client data is known, otherwise the assertion in base64.
    var text: String {
        let assertion = Base64.encode(object)
        guard let clientData else { return assertion }
        let member = JSONObject([
            ("key_id", .string(keyID)), ("assertion", .string(assertion)),
            ("client_data", .string(clientData)),
        ])
        return String(decoding: JSONValue.object(member).serialized(), as: UTF8.self)
    }
}
