package import AsyncHTTPClient
import Encodings
import Foundation
import JOSE
import StrictJSON

/// Checked dependencies of the `siwa google risc` commands.
package struct EventStreamContext: Sendable {
    package let client: EventStreamClient
    private let url: String?
    private let location: DatabaseLocation?

    /// Throws `.keyMisdirected` if a Google key would be used at an endpoint that is not Google's.
    package init(
        key: ServiceAccountKey, endpoints: GoogleEndpoints, url: String?, location: DatabaseLocation?,
        http: HTTPClient,
        secondsSince1970: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) throws(EventStreamError) {
        guard endpoints == .google || !key.isOfGoogle else {
            throw EventStreamError(
                .keyMisdirected,
                "\(key.email) is an account of Google itself, and its token is for Google alone; take a key of "
                    + "the fake Google (POST /control/service-accounts), or leave --google-url and "
                    + "SIWA_GOOGLE_BASE_URL out")
        }
        client = EventStreamClient(
            client: http, endpoints: endpoints, key: key,
            secondsSince1970: secondsSince1970)
        (self.url, self.location) = (url, location)
    }

    /// Returns the URL at which this service receives the events. Throws `.urlRefused` if no client receives
    /// events, or Google would not accept the URL.
    package func receiverURL() throws(EventStreamError) -> String {
        guard let url else {
            throw EventStreamError(
                .urlRefused,
                "no client with google_client_ids is configured, so this service refuses Google's events; "
                    + "configure one, or pass --url")
        }
        guard let address = WebAddress(url), address.query == nil else {
            throw EventStreamError(
                .urlRefused, "the receiver must be an https URL without a query, not \(url.forTerminal())")
        }
        guard client.endpoints != .google || (address.isSecure && !address.isLocalOrNumeric) else {
            throw EventStreamError(
                .urlRefused,
                "Google sends events only to an https URL with a public host name, not to \(url.forTerminal())"
            )
        }
        return url
    }

    /// Returns the database location. Throws `.verificationMissing` if the location is not known.
    package func database() throws(EventStreamError) -> DatabaseLocation {
        guard let location else {
            throw EventStreamError(
                .verificationMissing, "the database of the service is not known; pass --database")
        }
        return location
    }
}

/// A Google Cloud service account's key, from the JSON file that Google's console creates.
///
/// Descriptions do not contain the private key. Only signatures made with it leave the process.
package struct ServiceAccountKey: Sendable {
    /// Maximum size of a key file in bytes. Google's files have about 2,400 bytes.
    static let longestFile = 16_384
    /// The tokens' audience (Google, Cross-Account Protection).
    static let audience = "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService"
    /// Token lifetime in seconds.
    static let lifetime: Int64 = 3600

    package let email: String
    let keyID: String
    private let key: RSAPrivateKey

    /// Reads a key file. Throws `.keyUnreadable`, or `.keyMalformed` unless it is a service account's JSON
    /// key.
    package init(file path: String) throws(EventStreamError) {
        guard let handle = FileHandle(forReadingAtPath: path),
            let data = try? handle.read(upToCount: Self.longestFile + 1), data.count <= Self.longestFile
        else {
            throw EventStreamError(
                .keyUnreadable,
                "\(path) cannot be read, or has more than \(Self.longestFile) bytes; a JSON key file of a service "
                    + "account was expected")
        }
        try self.init(json: Array(data), name: path)
    }

    /// - Parameter name: The file's name, for errors.
    init(json: [UInt8], name: String) throws(EventStreamError) {
        func refusal(_ text: String) -> EventStreamError {
            EventStreamError(
                .keyMalformed,
                "\(name) \(text); make a key of type JSON in Google's console (IAM & Admin, Service Accounts, Keys)"
            )
        }
        guard let document = try? JSONValue(parsing: json), document["type"]?.string == "service_account"
        else { throw refusal("is not a JSON key file of a service account (type service_account)") }
        guard let email = Self.name(document["client_email"]), email.contains("@"),
            let keyID = Self.name(document["private_key_id"]), let pem = document["private_key"]?.string
        else { throw refusal("has no client_email, private_key_id or private_key") }
        guard let key = try? RSAPrivateKey(pem: pem) else {
            throw refusal("has a private_key that is not an RSA key")
        }
        (self.email, self.keyID, self.key) = (email, keyID, key)
    }

    private static func name(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) })
        else { return nil }
        return text
    }

    /// True for a service account at Google itself. Google accepts its tokens for an hour, so they must not
    /// reach another server.
    var isOfGoogle: Bool { email.hasSuffix(".iam.gserviceaccount.com") }

    /// Returns a token that is valid for one hour. It is signed with the service account's key, so getting it
    /// needs no request.
    ///
    /// - Parameter now: Current time in seconds since 1970.
    func token(at now: Int64) throws(EventStreamError) -> String {
        let header = JSONObject([
            ("alg", .string("RS256")), ("kid", .string(keyID)), ("typ", .string("JWT")),
        ])
        let claims = JSONObject([
            ("iss", .string(email)), ("sub", .string(email)), ("aud", .string(Self.audience)),
            ("iat", .integer(now)), ("exp", .integer(now + Self.lifetime)),
        ])
        var segments = JWSSegments(
            header: JSONValue.object(header).serialized(), payload: JSONValue.object(claims).serialized())
        guard let signature = try? key.signature(for: segments.signingInput) else {
            throw EventStreamError(.keyMalformed, "the private key of \(email) cannot sign")
        }
        segments.signature = signature
        return segments.compact
    }
}

extension ServiceAccountKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "key \(keyID) of \(email)" }
    package var customMirror: Mirror { Mirror(self, children: ["email": email, "keyID": keyID]) }
}
