import AppleAccounts
import AppleIdentity
import HTTPAPI
import KeySets
import SignIn
import StrictJSON
import Testing
import TokenMint

/// What each call answers when something is wrong: always a problem, never a 5xx for bad input.
@Suite struct ProblemContractTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let target: String
        var body: String?
        var fields: [String: String] = [:]
        let status: Int
        let code: String
        var subject: String?

        var testDescription: String { "\(method) \(target) \(body ?? "") -> \(code)" }
    }

    static let verify = "/v1/identity-tokens/verify"
    static let query = "/v1/credentials/query"

    static let malformed: [Case] = [
        Case(method: "POST", target: verify, body: "", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "{", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "[]", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "null", status: 400, code: "body_not_json"),
        Case(
            method: "POST", target: verify, body: "{\"identity_token\":\"a\",}", status: 400,
            code: "body_not_json"),
        Case(method: "POST", target: verify, body: "{} {}", status: 400, code: "body_not_json"),
        Case(method: "POST", target: verify, body: "\u{FEFF}{}", status: 400, code: "body_not_json"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":"a","identity_token":"b"}"#,
            status: 400,
            code: "body_not_json"),
        Case(
            method: "POST", target: verify, body: "{}", status: 400, code: "member_missing",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":1}"#, status: 400,
            code: "member_malformed",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":null}"#, status: 400,
            code: "member_missing",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":""}"#, status: 400,
            code: "member_malformed",
            subject: "identity_token"),
        Case(
            method: "POST", target: verify, body: #"{"identity_token":"a","nonse":"b"}"#, status: 400,
            code: "member_unknown", subject: "nonse"),
        // What does not look like a member's name is not repeated: it can be a token in the wrong place.
        Case(
            method: "POST", target: verify, body: #"{"identity_token":"a","e30.e30.e30":"b"}"#, status: 400,
            code: "member_unknown"),
        Case(
            method: "POST", target: verify,
            body: #"{"identity_token":"a","\#(String(repeating: "x", count: 33))":"b"}"#, status: 400,
            code: "member_unknown"),
        Case(
            method: "POST", target: "/v1/sign-ins", body: #"{"identity_token":"a","create":"yes"}"#,
            status: 400,
            code: "member_malformed", subject: "create"),
        Case(
            method: "POST", target: "/v1/sign-ins", body: #"{"identity_token":"a","user":"Ada"}"#,
            status: 400,
            code: "member_malformed", subject: "user"),
        Case(
            method: "POST", target: "/v1/sign-ins", body: #"{"identity_token":"a","user":{"name":7}}"#,
            status: 400,
            code: "member_malformed", subject: "user"),
        Case(
            method: "POST", target: query, body: #"{"subs":["a"]}"#, status: 400, code: "member_missing",
            subject: "client_id"),
        Case(
            method: "POST", target: query, body: #"{"client_id":"com.example.app"}"#, status: 400,
            code: "member_missing", subject: "subs"),
        Case(
            method: "POST", target: query, body: #"{"client_id":"com.example.app","subs":[]}"#, status: 400,
            code: "member_malformed", subject: "subs"),
        Case(
            method: "POST", target: query, body: #"{"client_id":"com.example.app","subs":["a",1]}"#,
            status: 400,
            code: "member_malformed", subject: "subs"),
        Case(
            method: "POST", target: query,
            body: #"{"client_id":"c","subs":["#
                + Array(repeating: "\"a\"", count: 1001).joined(separator: ",") + "]}",
            status: 400, code: "member_malformed", subject: "subs"),
        Case(
            method: "POST", target: "/v1/apple/notifications", body: "{}", status: 400,
            code: "member_missing",
            subject: "payload"),
    ]

    static let parameters: [Case] = [
        Case(
            method: "GET", target: "/v1/credentials/s", status: 400, code: "parameter_missing",
            subject: "client_id"),
        Case(
            method: "GET", target: "/v1/accounts?client_id=com.example.app", status: 400,
            code: "parameter_missing",
            subject: "sub"),
        Case(
            method: "GET", target: "/v1/events?afer=1", status: 400, code: "parameter_unknown",
            subject: "afer"),
        Case(method: "GET", target: "/v1/events?a%66er=1", status: 400, code: "parameter_unknown"),
        Case(
            method: "GET", target: "/v1/events?after=1&after=2", status: 400, code: "parameter_unknown",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/events?after=-1", status: 400, code: "parameter_malformed",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/events?after=99999999999999999999", status: 400,
            code: "parameter_malformed",
            subject: "after"),
        Case(
            method: "GET", target: "/v1/events?limit=0", status: 400, code: "parameter_malformed",
            subject: "limit"),
        Case(
            method: "GET", target: "/v1/events?wait=31", status: 400, code: "parameter_malformed",
            subject: "wait"),
        Case(
            method: "GET", target: "/v1/events?wait=1e1", status: 400, code: "parameter_malformed",
            subject: "wait"),
        Case(
            method: "GET", target: "/v1/events?limit=", status: 400, code: "parameter_malformed",
            subject: "limit"),
        Case(
            method: "GET", target: "/v1/credentials/%zz?client_id=com.example.app", status: 400,
            code: "parameter_malformed"),
        Case(
            method: "GET", target: "/v1/credentials/%00?client_id=com.example.app", status: 400,
            code: "character_not_allowed"),
        Case(
            method: "GET", target: "/v1/credentials/s?client_id=a%00", status: 400,
            code: "character_not_allowed", subject: "client_id"),
        Case(
            method: "GET", target: "/v1/credentials/%ff?client_id=com.example.app", status: 400,
            code: "parameter_malformed"),
        Case(
            method: "GET", target: "/v1/credentials/s?client_id=com.example.none", status: 404,
            code: "client_id_unknown"),
        Case(
            method: "GET", target: "/v1/accounts?client_id=com.example.app&sub=nobody", status: 404,
            code: "account_not_found"),
        Case(method: "GET", target: "/v1/accounts/acc_nonsense", status: 404, code: "account_not_found"),
        Case(
            method: "GET", target: "/v1/accounts/acc_01970000-0000-7000-8000-000000000000", status: 404,
            code: "account_not_found"),
    ]

    static let targets: [Case] = [
        Case(method: "GET", target: "/", status: 404, code: "not_found"),
        Case(method: "GET", target: "/v1/credentials/", status: 404, code: "not_found"),
        Case(method: "GET", target: "/v1/credentials/a/b?client_id=x", status: 404, code: "not_found"),
        Case(method: "POST", target: "/V1/sign-ins", body: "{}", status: 404, code: "not_found"),
        Case(method: "GET", target: "/v1/sign-ins", status: 405, code: "method_not_allowed"),
        Case(method: "DELETE", target: "/v1/accounts/acc_x", status: 404, code: "account_not_found"),
        Case(method: "DELETE", target: "/v1/accounts/", status: 404, code: "not_found"),
        Case(method: "DELETE", target: "/v1/accounts", status: 405, code: "method_not_allowed"),
        Case(
            method: "DELETE", target: "/v1/accounts/acc_x?force=1", status: 400, code: "parameter_unknown",
            subject: "force"),
        Case(method: "DELETE", target: "/v1/accounts/%ff", status: 400, code: "parameter_malformed"),
        Case(method: "GET", target: "/v1/erasures/era_x", status: 404, code: "erasure_not_found"),
        Case(method: "GET", target: "/v1/erasures/", status: 404, code: "not_found"),
        Case(
            method: "GET", target: "/v1/erasures/era_01970000-0000-7000-8000-000000000000", status: 404,
            code: "erasure_not_found"),
        Case(method: "DELETE", target: "/v1/erasures/era_x", status: 405, code: "method_not_allowed"),
        Case(
            method: "GET", target: "/v1/erasures/era_x?wait=1", status: 400, code: "parameter_unknown",
            subject: "wait"),
        Case(method: "PUT", target: verify, body: "{}", status: 405, code: "method_not_allowed"),
        Case(method: "OPTIONS", target: "/livez", status: 405, code: "method_not_allowed"),
        Case(
            method: "POST", target: verify, body: "{}", fields: ["Content-Type": "text/plain"], status: 415,
            code: "content_type_unsupported"),
        Case(
            method: "POST", target: verify, body: "a=b",
            fields: ["Content-Type": "application/x-www-form-urlencoded"], status: 415,
            code: "content_type_unsupported"),
    ]

    @Test(arguments: malformed + parameters + targets)
    func `bad input gets its status and code`(test: Case) async throws {
        try await RunningService.with { service in
            let answer = try await service.call(
                test.method, test.target, body: test.body, fields: test.fields)
            #expect(answer.status == test.status)
            #expect(answer.code == test.code)
            #expect(answer["content-type"] == "application/problem+json")
            let problem = answer.json
            #expect(problem?["type"]?.string == "urn:siwa:problem:\(test.code)")
            #expect(problem?["status"]?.integer == Int64(test.status))
            #expect(problem?["title"]?.string?.isEmpty == false)
            #expect(problem?["detail"]?.string?.isEmpty == false)
            #expect(problem?["request_id"]?.string == answer["x-request-id"])
            let subject = problem?["member"] ?? problem?["parameter"]
            #expect(subject?.string == test.subject)
        }
    }

    @Test func `a wrong method is told the right ones`() async throws {
        try await RunningService.with { service in
            let signIns = try await service.call("GET", "/v1/sign-ins")
            #expect(signIns["allow"] == "POST")
            let events = try await service.call("POST", "/v1/events", body: "{}")
            #expect(events["allow"] == "GET, HEAD")
            let account = try await service.call("PUT", "/v1/accounts/acc_x", body: "{}")
            #expect(account["allow"] == "GET, HEAD, DELETE")
            let erasure = try await service.call("DELETE", "/v1/erasures/era_x")
            #expect(erasure["allow"] == "GET, HEAD")
        }
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
    func `a content type with another case or a parameter is JSON`(type: String) async throws {
        try await RunningService.with { service in
            let answer = try await service.call(
                "POST", Self.verify, body: try Bodies.identityToken(), fields: ["Content-Type": type])
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer wrong", "Basic \(RunningService.secret)", RunningService.secret,
        "Bearer \(RunningService.secret) ", "Bearer  \(RunningService.secret)",
        "Bearer \(String(repeating: "a", count: 600))",
    ])
    func `a caller without a key is told how to come`(authorization: String) async throws {
        try await RunningService.with { service in
            let answer = try await service.call(
                "GET", "/v1/events", secret: nil, fields: ["Authorization": authorization])
            // A field's trailing white space is not part of its value (RFC 9112 §5.1).
            guard authorization != "Bearer \(RunningService.secret) " else {
                #expect(answer.status == 200)
                return
            }
            #expect(answer.status == 401)
            #expect(answer.code == "caller_unauthenticated")
            #expect(answer["www-authenticate"]?.hasPrefix("Bearer") == true)
            #expect(!answer.text.contains(RunningService.secret))
        }
    }

    @Test func `two keys are no key`() async throws {
        try await RunningService.with { service in
            let request = RunningService.request("GET", "/v1/events").replacingHead(
                with: "Authorization: Bearer \(RunningService.secret)\r\n")
            let answer = try await ProbeConnection.with(port: service.port) { connection in
                try await connection.send(request)
                return try await connection.response()
            }
            #expect(answer.code == "caller_unauthenticated")
        }
    }

    @Test func `a limited key sees its own app only`() async throws {
        try await RunningService.with { service in
            let secret = RunningService.limitedSecret
            let signedIn = try await service.call("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            let id = try #require(signedIn.json?["account"]?["id"]?.string)
            let foreign = try await service.call(
                "GET", "/v1/credentials/s?client_id=\(TokenMint.clientID)", secret: secret)
            #expect(foreign.status == 403)
            #expect(foreign.code == "caller_forbidden")
            let own = try await service.call(
                "GET", "/v1/credentials/s?client_id=\(RunningService.secondClientID)", secret: secret)
            #expect(own.status == 200)
            let token = try await service.call(
                "POST", Self.verify, body: try Bodies.identityToken(), secret: secret)
            #expect(token.code == "caller_forbidden")
            let events = try await service.call("GET", "/v1/events", secret: secret)
            #expect(events.json?["events"]?.array == [])
            let path = "/v1/accounts?client_id=\(RunningService.secondClientID)&sub=\(TokenMint.subject)"
            for target in ["/v1/accounts/\(id)", path] {
                let account = try await service.call("GET", target, secret: secret)
                #expect(account.status == 404)
                #expect(account.code == "account_not_found")
            }
            let body = try Bodies.identityToken { $0["aud"] = .string(RunningService.secondClientID) }
            #expect(try await service.call("POST", "/v1/sign-ins", body: body, secret: secret).status == 200)
            for target in ["/v1/accounts/\(id)", path] {
                let account = try await service.call("GET", target, secret: secret)
                #expect(account.json?["id"]?.string == id)
                #expect(account.json?["credentials"]?.array?.count == 1)
            }
        }
    }

    @Test(arguments: AppleTokenError.Code.allCases)
    func `every refusal of a token is 401 with its own code`(code: AppleTokenError.Code) async throws {
        let store = FailingStore(error: AppleTokenError(code, detail: "secret-claim-value"))
        try await RunningService.with(.init(store: store)) { service in
            let answer = try await service.call("GET", "/v1/events")
            #expect(answer.status == 401)
            #expect(answer.code == code.rawValue)
            #expect(!answer.text.contains("secret-claim-value"))
        }
    }

    @Test(arguments: [
        ("token_malformed", "not.a.token"), ("token_malformed", "a.b"), ("token_malformed", "..."),
        ("algorithm_not_allowed", "eyJhbGciOiJub25lIiwia2lkIjoiYSJ9.e30.YQ"),
        ("key_id_invalid", "eyJhbGciOiJSUzI1NiJ9.e30.YQ"),
        ("unknown_key", "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vcGUifQ.e30.YQ"),
    ])
    func `a token that is none is refused before anything else`(code: String, token: String) async throws {
        try await RunningService.with { service in
            for target in [Self.verify, "/v1/sign-ins"] {
                let body = Bodies.json([("identity_token", .string(token))])
                #expect(try await service.call("POST", target, body: body).code == code)
            }
            let answer = try await service.call(
                "POST", "/v1/apple/notifications", body: Bodies.json([("payload", .string(token))]),
                secret: nil)
            #expect(answer.status == 401)
            #expect(answer.code == code)
        }
    }

    @Test func `an identity token is no notification, and the reverse`() async throws {
        try await RunningService.with { service in
            let token = try Bodies.token()
            let notified = try await service.call(
                "POST", "/v1/apple/notifications", body: Bodies.json([("payload", .string(token))]),
                secret: nil)
            #expect(notified.code == "not_a_notification")
            let payload = try TokenMint.shared.sign(TokenMint.notificationClaims())
            let verified = try await service.call(
                "POST", Self.verify, body: Bodies.json([("identity_token", .string(payload))]))
            #expect(verified.code == "not_an_identity_token")
        }
    }

    @Test(arguments: [
        (StorageError.Code.unavailable, 503), (.busy, 503), (.full, 503), (.readOnly, 503), (.corrupted, 503),
        (.schemaTooNew, 503), (.migrationFailed, 503), (.valueRefused, 500),
    ])
    func `a failing database is said to fail, with nothing about it`(
        code: StorageError.Code, status: Int
    ) async throws {
        let store = FailingStore(error: StorageError(code, detail: "SELECT secret"))
        try await RunningService.with(.init(store: store)) { service in
            let answer = try await service.call("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            #expect(answer.status == status)
            #expect(answer.code == (status == 503 ? "storage_unavailable" : "internal_error"))
            #expect((answer["retry-after"] != nil) == (status == 503))
            #expect(!answer.text.contains("SELECT"))
            let ready = try await service.call("GET", "/readyz", secret: nil)
            #expect(ready.status == status)
            let alive = try await service.call("GET", "/livez", secret: nil)
            #expect(alive.status == 200)
            let health = try await service.call("GET", "/health", secret: nil)
            #expect(health.status == 503)
        }
    }

    @Test func `too much waiting work is told to come back`() async throws {
        try await RunningService.with(.init(store: FailingStore(error: OverloadedError()))) { service in
            let answer = try await service.call("GET", "/v1/events")
            #expect(answer.status == 503)
            #expect(answer.code == "overloaded")
            #expect(answer["retry-after"] == "1")
        }
    }

    @Test func `without keys no token is accepted and none is refused`() async throws {
        try await RunningService.with(.init(keys: NoKeys())) { service in
            let verified = try await service.call("POST", Self.verify, body: try Bodies.identityToken())
            #expect(verified.status == 503)
            #expect(verified.code == "keys_unavailable")
            #expect(verified["retry-after"] != nil)
            let notified = try await service.call(
                "POST", "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
            #expect(notified.status == 503)
            let ready = try await service.call("GET", "/readyz", secret: nil)
            #expect(ready.status == 503)
            #expect(ready.code == "keys_unavailable")
        }
    }

    struct Mishap: Error {}

    @Test func `an unexpected error is a problem too, and its words stay inside`() async throws {
        try await RunningService.with(.init(store: FailingStore(error: Mishap()))) { service in
            let answer = try await service.call("GET", "/v1/events")
            #expect(answer.status == 500)
            #expect(answer.code == "internal_error")
            #expect(service.loggedText().contains("Mishap"))
        }
    }

    @Test func `a deployment without callers' keys lets everybody in only when it is told to`() async throws {
        try await RunningService.with(.init(callers: .open)) { service in
            let answer = try await service.call("GET", "/v1/events", secret: nil)
            #expect(answer.status == 200)
        }
        try await RunningService.with(.init(callers: CallerDirectory(keys: []))) { service in
            let answer = try await service.call("GET", "/v1/events", secret: nil)
            #expect(answer.status == 401)
        }
    }
}

extension String {
    /// The same request with one more field in front of the others.
    fileprivate func replacingHead(with field: String) -> String {
        guard let line = firstRange(of: "\r\n") else { return self }
        return String(self[..<line.upperBound]) + field + String(self[line.upperBound...])
    }
}
