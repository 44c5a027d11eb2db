import AppAttestation
import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The body of `POST /v1/app-attest/challenges`.
struct ChallengeRequest: Sendable {
    let purpose: AppAttestChallenge.Purpose
    let clientID: String

    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var (purpose, clientID): (String?, String?)
        while let name = try body.next() {
            switch name {
            case "purpose": purpose = try body.string("purpose")
            case "client_id": clientID = try body.string("client_id")
            default: throw Problem.unknownMember(name)
            }
        }
        guard let word = purpose else { throw Problem(.memberMissing, subject: .member("purpose")) }
        guard let appName = clientID else { throw Problem(.memberMissing, subject: .member("client_id")) }
        guard let known = AppAttestChallenge.Purpose(rawValue: word) else {
            throw Problem(.memberMalformed, subject: .member("purpose"))
        }
        (self.purpose, self.clientID) = (known, appName)
    }
}

extension KeyRegistrationRequest {
    /// Reads the body of `POST /v1/app-attest/keys`.
    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var members: [String: String] = [:]
        while let name = try body.next() {
            switch name {
            case "attestation": members["attestation"] = try body.string("attestation")
            case "key_id": members["key_id"] = try body.string("key_id")
            case "challenge": members["challenge"] = try body.string("challenge")
            case "client_id": members["client_id"] = try body.string("client_id")
            default: throw Problem.unknownMember(name)
            }
        }
        func member(_ name: String) throws(Problem) -> String {
            guard let text = members[name] else { throw Problem(.memberMissing, subject: .member(name)) }
            return text
        }
        self.init(
            attestation: try member("attestation"), keyID: try member("key_id"),
            challenge: try member("challenge"), clientID: try member("client_id"))
    }
}

extension JSONWriter {
    /// Begins a response with the members that every response about a key has.
    fileprivate init(beginningKey key: AttestedKeyRecord) {
        self.init(reservingCapacity: 384)
        beginObject()
        name("key")
        beginObject()
        member("key_id", key.id.base64)
        member("client_id", key.appID.bundleID)
        member("team_id", key.appID.teamID)
        member("environment", key.environment.rawValue)
        member("created_at", key.createdAt.rfc3339)
    }
}

extension KeyRegistration {
    /// The body of the response to a registration.
    var json: [UInt8] {
        var json = JSONWriter(beginningKey: key)
        json.member(extensions)
        json.endObject()
        json.member("is_new_key", isNew)
        json.endObject()
        return json.bytes
    }
}

extension HTTPResponse {
    /// The response to a registration: 201 when the key is new.
    static func registered(_ registration: KeyRegistration) -> HTTPResponse {
        .json(registration.isNew ? .created : .ok, registration.json)
    }

    /// The response to the query of a key.
    static func attestedKey(_ key: AttestedKeyRecord) -> HTTPResponse {
        var json = JSONWriter(beginningKey: key)
        json.member("counter", Int64(key.counter))
        json.member("used_at", key.usedAt.rfc3339)
        json.member("validation_category", ifPresent: key.facts.validationCategory.map { Int64($0) })
        json.member("bundle_version", ifPresent: key.facts.bundleVersion)
        json.member("risk_metric", ifPresent: key.riskMetric)
        json.endObject()
        json.endObject()
        return .json(.ok, json.bytes)
    }
}
