import AppleAccounts
import HTTPAPI
import StrictJSON
import Testing
import TokenMint

/// Responses to callers without an API key, or with a limited API key.
@Suite struct CallerProblemTests {
    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer wrong", "Basic \(RunningService.secret)", RunningService.secret,
        "Bearer  ", "Bearer\t\(RunningService.secret)", "Bearer a \(RunningService.secret)",
        "Bearer \(String(repeating: "a", count: 600))",
    ])
    func `a caller without a key is told how to come`(authorization: String) async throws {
        try await RunningService.with { service in
            let answer = try await service.call(
                "GET", "/v1/events", secret: nil, fields: ["Authorization": authorization])
            #expect(answer.status == 401)
            #expect(answer.code == "caller_unauthenticated")
            #expect(answer["www-authenticate"]?.hasPrefix("Bearer") == true)
            #expect(!answer.text.contains(RunningService.secret))
        }
    }

    @Test(arguments: ["Bearer KEY", "bearer KEY ", "BEARER  KEY", "Bearer    KEY\t "])
    func `one space or several are before a token`(field: String) async throws {
        try await RunningService.with { service in
            let answer = try await service.call(
                "GET", "/v1/events", secret: nil,
                fields: ["Authorization": field.replacing("KEY", with: RunningService.secret)])
            #expect(answer.status == 200)
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
                "POST", ProblemContractTests.verify, body: try Bodies.identityToken(), secret: secret)
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

    @Test func `the key for the metrics opens the metrics, and nothing else`() async throws {
        let secret = APIKeySecret.make()
        let caller = APIKey(name: "backend", hash: APIKeySecret.hash(RunningService.secret), scope: .all)
        let callers = CallerDirectory(keys: [caller], metricsKey: APIKeySecret.hash(secret))
        try await RunningService.with(.init(callers: callers)) { service in
            #expect(try await service.call("GET", "/metrics", secret: secret).status == 200)
            #expect(try await service.call("GET", "/metrics", secret: RunningService.secret).status == 200)
            #expect(try await service.call("GET", "/metrics", secret: APIKeySecret.make()).status == 401)
            #expect(try await service.call("GET", "/metrics", secret: nil).status == 401)
            for target in ["/v1/events", "/v1/accounts/acc_01a1fbea-fd31-70c4-8d21-64a7bb3d2a10"] {
                let answer = try await service.call("GET", target, secret: secret)
                #expect(answer.code == "caller_unauthenticated")
            }
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
