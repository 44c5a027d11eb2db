import EmulatorServer
import Encodings
import JOSE
import StrictJSON
import WebOrigins

/// Google's RISC API: registers the receiver of events. Checks tokens with code that is not shared with the
/// signer.
struct EventStreamAPI: Sendable {
    static let audience = "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService"
    static let pushDelivery = "https://schemas.openid.net/secevent/risc/delivery-method/push"
    /// Bytes of a URL and of a state.
    private static let longestText = 2048

    let state: GoogleState

    /// Checks a service account's self-signed token (RFC 7523, without a token endpoint).
    ///
    /// - Parameter field: The field `Authorization`.
    func authorize(_ field: String?) throws(EventStreamRefusal) {
        let scheme = "Bearer "
        guard let field, field.hasPrefix(scheme), field.utf8.count <= 8192,
            let segments = JWSSegments(compact: String(field.dropFirst(scheme.count))),
            let header = try? JSONValue(parsing: segments.header), header["alg"]?.string == "RS256",
            let keyID = header["kid"]?.string, let claims = try? JSONValue(parsing: segments.payload),
            let account = state.update({ world in world.events.accounts.first { $0.keyID == keyID } }),
            account.isValidSignature(of: segments), claims["iss"]?.string == account.email,
            claims["sub"]?.string == account.email, claims["aud"]?.string == Self.audience,
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer,
            // Google accepts at most an hour.
            issuedAt <= state.now + 60, expiresAt > state.now, expiresAt - issuedAt <= 3600
        else { throw .tokenRefused }
        guard account.hasAPI else { throw .apiDisabled }
        guard account.hasRole else { throw .roleMissing }
    }

    /// `POST /v1beta/stream:update`
    func update(_ body: [UInt8]) throws(EventStreamRefusal) -> JSONObject {
        let json = try object(body)
        guard let delivery = json["delivery"], delivery["delivery_method"]?.string == Self.pushDelivery,
            let url = delivery["url"]?.string, url.utf8.count <= Self.longestText
        else { throw .argument("Invalid delivery.") }
        guard isAuthorized(url) else {
            throw .argument("The delivery URL must be on an authorized domain of the project.")
        }
        let known = SentEventType.allCases.map(\.uri)
        guard let events = json["events_requested"]?.array?.compactMap(\.string), !events.isEmpty,
            events.allSatisfy(known.contains), Set(events).count == events.count
        else { throw .argument("Invalid events_requested.") }
        state.update { $0.events.register(url: url, events: events) }
        return JSONObject()
    }

    /// `GET /v1beta/stream`
    func stream() throws(EventStreamRefusal) -> JSONObject {
        let stream = try registered()
        let delivery = JSONObject([
            ("delivery_method", .string(Self.pushDelivery)), ("url", .string(stream.url)),
        ])
        let events = JSONValue.array(stream.events.map { .string($0) })
        return JSONObject([
            ("iss", .string(SentEvent.issuer)),
            ("aud", .array([.string(state.configuration.googleClientID)])),
            ("delivery", .object(delivery)), ("events_requested", events), ("events_delivered", events),
        ])
    }

    /// `GET /v1beta/stream/status`
    func status() throws(EventStreamRefusal) -> JSONObject {
        JSONObject([("status", .string(try registered().isEnabled ? "enabled" : "disabled"))])
    }

    /// `POST /v1beta/stream/status:update`
    func setStatus(_ body: [UInt8]) throws(EventStreamRefusal) -> JSONObject {
        let word = try object(body)["status"]?.string
        guard word == "enabled" || word == "disabled" else { throw .argument("Invalid status.") }
        guard state.update({ $0.events.setStatus(isEnabled: word == "enabled") }) else {
            throw .streamMissing
        }
        return JSONObject([("status", .string(word ?? ""))])
    }

    /// `POST /v1beta/stream:verify`: sends the test event before it answers, while Google answers at once.
    func verify(_ body: [UInt8]) async throws(EventStreamRefusal) -> JSONObject {
        guard let text = try object(body)["state"]?.string, text.utf8.count <= Self.longestText else {
            throw .argument("Invalid state.")
        }
        guard try registered().isEnabled else { throw .argument("The stream is disabled.") }
        var event = SentEvent()
        (event.type, event.state) = (.verification, text)
        // As at Google, the result of the delivery is not in the response.
        _ = try? await Linking(state: state).send(event)
        return JSONObject()
    }

    private func registered() throws(EventStreamRefusal) -> EventStreamBook.Stream {
        guard let stream = state.update({ $0.events.stream }) else { throw .streamMissing }
        return stream
    }

    private func object(_ body: [UInt8]) throws(EventStreamRefusal) -> JSONValue {
        guard let json = try? JSONValue(parsing: body), json.object != nil else {
            throw .argument("Invalid JSON payload received.")
        }
        return json
    }

    /// Returns `true` for an address of the linked server, whose domain is the authorized domain here. Google
    /// accepts https alone; the emulator also http of this machine.
    private func isAuthorized(_ url: String) -> Bool {
        guard let address = WebAddress(url), address.isSecure || address.isLoopback,
            let server = state.update({ $0.server })
        else { return false }
        return [server.issuer, server.securityEventsURL].contains { WebAddress($0)?.host == address.host }
    }
}
