import EmulatorServer
import Encodings
import JOSE
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

@testable import ReceiverEmulator

@Suite(.receivers(), .timeLimit(.hung)) struct VerificationTests {
    let receiver = ReceiverUnderTest.current

    private static let now = ReceiverUnderTest.now

    @Test func `takes a signed webhook, and shows its event with the time since the commit`() async throws {
        #expect(try await receiver.postWebhook().status == 204)
        let message = try #require(receiver.state.messages.first)
        #expect(message.refusal == nil)
        #expect(message.event?.id == "evt_1")
        #expect(message.event?.type == "credential_revoked")
        #expect(message.event?.user == "acc_1")
        #expect(message.latency == 40)
        #expect(message.status == 204)
        #expect(message.arrival == 1 && !message.isDuplicate && message.isInOrder)
    }

    @Test func `takes a webhook of which one of several signatures is valid`() async throws {
        let response = try await receiver.postWebhook { headers in
            let good = headers.first(name: "webhook-signature") ?? ""
            headers.replaceOrAdd(name: "webhook-signature", value: "v1,AAAA v2,x \(good)")
        }
        #expect(response.status == 204)
    }

    private struct Forgery: Sendable, CustomTestStringConvertible {
        let name: String
        let code: MessageRefusal.Code
        var body = ReceiverUnderTest.event()
        let change: @Sendable (inout HTTPHeaders, String) -> Void

        init(
            _ name: String, _ code: MessageRefusal.Code, body: String = ReceiverUnderTest.event(),
            _ change: @escaping @Sendable (inout HTTPHeaders, String) -> Void = { _, _ in }
        ) { (self.name, self.code, self.body, self.change) = (name, code, body, change) }

        var testDescription: String { name }

        /// Signs the message for another time.
        static func signed(at timestamp: Int64) -> @Sendable (inout HTTPHeaders, String) -> Void {
            { headers, body in
                headers.replaceOrAdd(name: "webhook-timestamp", value: "\(timestamp)")
                headers.replaceOrAdd(
                    name: "webhook-signature", value: ReceiverUnderTest.signature("evt_1", timestamp, body))
            }
        }

        static let webhooks: [Forgery] = [
            Forgery("no signature", .fieldMalformed) { headers, _ in headers.remove(name: "webhook-signature")
            }, Forgery("no ID", .fieldMalformed) { headers, _ in headers.remove(name: "webhook-id") },
            Forgery("two IDs", .fieldMalformed) { headers, _ in headers.add(name: "webhook-id", value: "x") },
            Forgery("time that is no number", .fieldMalformed) { headers, _ in
                headers.replaceOrAdd(name: "webhook-timestamp", value: "soon")
            },
            Forgery("another secret", .signatureInvalid) { headers, body in
                let forged = ReceiverUnderTest.signature("evt_1", now, body, key: [1, 2, 3])
                headers.replaceOrAdd(name: "webhook-signature", value: forged)
            },
            Forgery("another ID", .signatureInvalid) { headers, _ in
                headers.replaceOrAdd(name: "webhook-id", value: "evt_2")
            },
            Forgery("signature behind eight others", .signatureInvalid) { headers, _ in
                let good = headers.first(name: "webhook-signature") ?? ""
                let many = Array(repeating: "v1,AAAA", count: 8) + [good]
                headers.replaceOrAdd(name: "webhook-signature", value: many.joined(separator: " "))
            }, Forgery("replay after five minutes", .timestampStale, signed(at: now - 301)),
            Forgery("from the future", .timestampStale, signed(at: now + 301)),
            Forgery("not JSON", .eventMalformed, body: "hello"),
            Forgery("no event", .eventMalformed, body: #"{"id":"evt_1"}"#),
            Forgery("event with another ID", .idMismatch, body: ReceiverUnderTest.event("evt_2")),
            Forgery("another content type", .typeMismatch) { headers, _ in
                headers.replaceOrAdd(name: "content-type", value: "text/plain")
            }, Forgery("too large", .bodyTooLarge, body: String(repeating: " ", count: 16 * 1024 + 1)),
        ]
    }

    @Test(arguments: Forgery.webhooks)
    private func `refuses a webhook that does not hold`(forgery: Forgery) async throws {
        let response = try await receiver.postWebhook(forgery.body) { forgery.change(&$0, forgery.body) }
        let message = try #require(receiver.state.messages.first)
        #expect(message.refusal?.code == forgery.code)
        #expect((400...499).contains(response.status))
        #expect(response.json?["code"]?.string == forgery.code.rawValue)
        #expect(message.event == nil && message.arrival == 0 && message.status == response.status)
    }

    @Test func `takes a token that a published key has signed, and fetches the keys once`() async throws {
        for _ in 0..<3 {
            #expect(try await receiver.pushGood().status == 202)
        }
        #expect(receiver.publisher.requests.count == 1)
        let messages = receiver.state.messages
        #expect(messages.map(\.isDuplicate) == [false, true, true])
        #expect(messages.map(\.arrival) == [1, 2, 3])
        #expect(messages.first?.event?.uri == "https://schemas.openid.net/a")
        #expect(messages.first?.latency == 40)
    }

    private struct ForgedToken: Sendable, CustomTestStringConvertible {
        let name: String
        let code: MessageRefusal.Code
        let error: String
        let make: @Sendable (ReceiverUnderTest) throws -> String

        var testDescription: String { name }

        init(
            _ name: String, _ code: MessageRefusal.Code, _ error: String = "invalid_request",
            _ make: @escaping @Sendable (ReceiverUnderTest) throws -> String
        ) { (self.name, self.code, self.error, self.make) = (name, code, error, make) }

        static func header(
            _ name: String, _ code: MessageRefusal.Code, err error: String = "invalid_request",
            _ member: String, _ value: JSONValue?
        ) -> ForgedToken { ForgedToken(name, code, error) { try $0.token({ $0[member] = value }) } }

        static func claim(
            _ name: String, _ code: MessageRefusal.Code, err error: String = "invalid_request",
            _ member: String, _ value: JSONValue?
        ) -> ForgedToken { ForgedToken(name, code, error) { try $0.token({ _ in }, { $0[member] = value }) } }

        static let all: [ForgedToken] = [
            ForgedToken("no token", .tokenMalformed) { _ in "hello" },
            header("ID token of the issuer", .headerRefused, "typ", "JWT"),
            header("no type", .headerRefused, "typ", nil),
            header("no algorithm", .headerRefused, "alg", "none"),
            header("HMAC with the public key", .headerRefused, "alg", "HS256"),
            header("crit", .headerRefused, "crit", .array(["x"])),
            header("key in the header", .headerRefused, "jwk", .object(JSONObject())),
            header("no key ID", .headerRefused, "kid", nil),
            header("unknown key", .keyUnknown, err: "invalid_key", "kid", "other"),
            ForgedToken("tampered", .signatureInvalid, "authentication_failed") { receiver in
                var segments = try #require(JWSSegments(compact: try receiver.token()))
                segments.signature[0] ^= 1
                return segments.compact
            },
            ForgedToken("claims of another token", .signatureInvalid, "authentication_failed") { receiver in
                var segments = try #require(JWSSegments(compact: try receiver.token()))
                segments.payload = JSONValue.object(receiver.claims).serialized() + [UInt8(ascii: " ")]
                return segments.compact
            },
            claim(
                "another issuer", .issuerMismatch, err: "invalid_issuer", "iss",
                "https://other.example"),
            claim("another audience", .audienceMismatch, err: "invalid_audience", "aud", "other"),
            claim("no audience", .audienceMismatch, err: "invalid_audience", "aud", nil),
            claim("from the future", .timeRefused, "iat", .integer(now + 61)),
            claim("no time", .timeRefused, "iat", nil),
            claim("expiry", .timeRefused, "exp", .integer(now + 60)),
            claim("no ID", .eventMalformed, "jti", nil), claim("no subject", .eventMalformed, "sub_id", nil),
            claim("no events", .eventMalformed, "events", .object(JSONObject())),
            claim("another ID than its event", .idMismatch, "jti", "evt_2"),
        ]
    }

    @Test(arguments: ForgedToken.all)
    private func `refuses a token that does not hold, in the words of RFC 8935`(token: ForgedToken)
        async throws
    {
        let response = try await receiver.push(try token.make(receiver))
        #expect(receiver.state.messages.first?.refusal?.code == token.code)
        #expect(response.status == 400)
        #expect(response.json?["err"]?.string == token.error)
    }

    @Test func `refuses a token of another content type`() async throws {
        let token = try receiver.token()
        #expect(try await receiver.push(token, type: "application/jwt").status == 415)
    }

    @Test func `asks for a repetition while the published keys cannot be fetched`() async throws {
        receiver.state.connect(
            to: EventSender(issuer: receiver.issuer, keysURL: "http://127.0.0.1:1/jwks.json"), urls: [:])
        #expect(try await receiver.pushGood().status == 503)
        #expect(receiver.state.messages.first?.refusal?.code == .keysUnavailable)
    }

    @Test func `the first token does not wait for keys that were fetched ahead`() async throws {
        await receiver.state.fetchKeys()
        #expect(receiver.publisher.requests.count == 1)
        #expect(try await receiver.pushGood().status == 202)
        #expect(receiver.publisher.requests.count == 1)
    }

    @Test func `tokens with invented keys cause one fetch of the keys in a second`() async throws {
        for number in 0..<5 {
            _ = try await receiver.push(try receiver.token({ $0["kid"] = .string("\(number)") }))
        }
        #expect(receiver.publisher.requests.count <= 2)
    }

    @Test(arguments: [[], ["secret"], ["whsec_AAAA"], ["whsec_?"]])
    func `does not start with a secret that is none`(secrets: [String]) {
        let configuration = ReceiverEmulatorConfiguration(secrets: secrets, audience: "a")
        #expect(throws: EmulatorError(.configurationInvalid)) {
            try ReceiverEmulatorService(
                configuration: configuration, clock: EmulatorClock(now: { 0 }), logger: .silent)
        }
    }
}

@Suite(.timeLimit(.hung)) struct MessageLogTests {
    private var receiver: ReceiverUnderTest { .current }

    private static func message(
        _ id: String, user: String = "acc_1", recordedAt: Int64 = 0, at receiver: EmulatedReceiver = .webhook,
        content: String = ""
    ) -> ReceivedMessage {
        let event = EventFacts(id: id, type: "t", uri: nil, user: user, recordedAt: recordedAt)
        return ReceivedMessage(receiver, at: 0, .success(event), content: content)
    }

    @Test func `keeps the latest 200 messages, and 8192 characters of each`() {
        var log = MessageLog()
        let long = String(repeating: "x", count: 10_000)
        for number in 0...MessageLog.capacity {
            let added = log.add(Self.message("\(number)", content: long))
            log.answer(added, status: 204)
        }
        #expect(log.messages.map(\.number) == Array(2...201))
        #expect(log.messages.allSatisfy { $0.content.count == 8192 })
        // The answer to a message that was dropped meanwhile.
        log.answer(1, status: 500)
        #expect(log.messages.allSatisfy { $0.status == 204 })
    }

    @Test func `recognizes repetitions among the latest 2000 events`() {
        var log = MessageLog()
        for number in 0...MessageLog.mostKnown {
            log.answer(log.add(Self.message("\(number)", user: "\(number)")), status: 204)
        }
        _ = log.add(Self.message("1"))
        #expect(log.messages.last?.isDuplicate == true)
        // The oldest is forgotten.
        _ = log.add(Self.message("0"))
        #expect(log.messages.last?.isDuplicate == false)
    }

    @Test func `a table drops its oldest key, and a change makes no key younger`() {
        var table = BoundedTable<Int, Int>(capacity: 3)
        for key in 0..<3 { table[key] = key }
        table[0] = 10
        table[3] = 3
        table[4] = 4
        #expect((0..<5).map { table[$0] } == [nil, nil, 2, 3, 4])
        #expect(table.count == 3)
    }

    @Test func `an event that was not taken is no duplicate when it comes again`() {
        var log = MessageLog()
        log.answer(log.add(Self.message("a")), status: 500)
        log.answer(log.add(Self.message("a")), status: 204)
        _ = log.add(Self.message("a"))
        #expect(log.messages.map(\.isDuplicate) == [false, false, true])
        #expect(log.messages.map(\.arrival) == [1, 2, 3])
        // Each receiver has its own.
        _ = log.add(Self.message("a", at: .push))
        #expect(log.messages.last?.arrival == 1)
    }

    @Test func `sees when the events of one account are out of order`() {
        var log = MessageLog()
        for (id, user, recordedAt) in [
            ("a", "acc_1", 20), ("b", "acc_2", 10), ("c", "acc_1", 10), ("d", "acc_1", 20),
            ("a", "acc_1", 20),
        ] as [(String, String, Int64)] {
            log.answer(log.add(Self.message(id, user: user, recordedAt: recordedAt)), status: 204)
        }
        #expect(log.messages.map(\.isInOrder) == [true, true, false, true, true])
    }

    @Test(.receivers())
    func `a full log of the largest bodies stays a page of bounded size`() async throws {
        let body = String(repeating: "<", count: 16 * 1024)
        for _ in 0..<(MessageLog.capacity + 1) {
            _ = try await receiver.postWebhook(body)
        }
        #expect(receiver.state.messages.count == 200)
        let page = try await receiver.get("/")
        #expect(page.status == 200)
        // Each of 50 messages has 8192 characters, of which every one is escaped.
        #expect(page.text.utf8.count < 50 * (8192 * 4 + 2048))
    }
}
