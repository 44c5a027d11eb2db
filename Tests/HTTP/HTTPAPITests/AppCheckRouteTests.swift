import AppAttestation
import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import HTTPAPI

private enum AppCheckRoutePolicies {
    static func all() throws -> AppCheckPolicies {
        AppCheckPolicies([
            try policy(.app(bundleID: TokenMint.clientID), TokenMint.clientID, .monitored),
            try policy(.oauthClient(id: "phone"), TokenMint.clientID, .enforced),
            try policy(.app(bundleID: RunningService.secondClientID), RunningService.secondClientID, .off),
        ])
    }

    private static func policy(
        _ target: AppCheckTarget, _ bundleID: String, _ mode: AppCheckMode
    ) throws -> AppCheckPolicy {
        AppCheckPolicy(
            target: target, appID: try #require(AppID(teamID: RunningService.team, bundleID: bundleID)),
            platform: .iOS, mode: mode, environment: .production, firstAttestingVersion: AppVersion("4.2"))
    }
}

@Suite(.service { $0.appCheck = AppCheck(try AppCheckRoutePolicies.all()) }) struct AppCheckRouteTests {
    let service = RunningService.current

    private static let path = "/v1/apps/\(TokenMint.clientID)/app-check"
    private static let now = RunningService.now / 1000

    @Test func `shows the counts of the app's bundle IDs and clients, by hour for seven days`() async throws {
        let store = try service.memory
        let hour = AppCheckHour.beginning(of: Self.now)
        let target = AppCheckTarget.app(bundleID: TokenMint.clientID)
        try await store.addAppCheckHours([
            AppCheckHour(
                target: target, hour: hour - AppCheckHour.kept - 3600, tally: AppCheckTally(invalid: 99)),
            AppCheckHour(target: target, hour: hour - AppCheckHour.kept, tally: AppCheckTally(invalid: 1)),
            AppCheckHour(
                target: target, hour: hour,
                tally: AppCheckTally(verified: 5, outdatedApp: 4, unknownOrigin: 3, invalid: 2)),
            AppCheckHour(
                target: .app(bundleID: RunningService.secondClientID), hour: hour,
                tally: AppCheckTally(verified: 7)),
        ])
        let response = try await service.get(Self.path).expecting(200)
        #expect(response.json?["app"]?.string == TokenMint.clientID)
        let targets = try #require(response.json?["targets"]?.array)
        try #require(targets.count == 2)
        #expect(targets[0]["kind"]?.string == "app")
        #expect(targets[0]["client_id"] == nil)
        expect(targets[0], has: ["app_check": "monitored", "first_attesting_version": "4.2"])
        #expect(targets[0]["total"]?["invalid"]?.integer == 3)
        #expect(targets[0]["hours"]?.array?.count == 2)
        let last = try #require(targets[0]["hours"]?.array?.last)
        expect(last, has: ["verified": 5, "outdated_app": 4, "unknown_origin": 3, "invalid": 2])
        #expect(last["begins_at"]?.string?.hasSuffix(":00:00.000Z") == true)
        #expect(targets[1]["kind"]?.string == "oauth_client")
        #expect(targets[1]["client_id"]?.string == "phone")
        #expect(targets[1]["bundle_id"]?.string == TokenMint.clientID)
        #expect(targets[1]["hours"]?.array == [])
    }

    @Test func `a key that is limited to other apps finds nothing, and an unknown app is not found`()
        async throws
    {
        let foreign = try await service.get(Self.path, secret: RunningService.limitedSecret)
        #expect(foreign.outcome == "404 client_id_unknown")
        let own = try await service.get(
            "/v1/apps/\(RunningService.secondClientID)/app-check", secret: RunningService.limitedSecret)
        #expect(own.status == 200)
        #expect(own.json?["targets"]?.array?.count == 1)
        #expect(try await service.get("/v1/apps/com.example.nobody/app-check").code == "client_id_unknown")
        let parameter = try await service.get(Self.path + "?days=1")
        #expect(parameter.code == "parameter_unknown")
        #expect(try await service.get(Self.path, secret: nil).code == "caller_unauthenticated")
    }

    @Test func `the metrics have each kind of each target from the start`() async throws {
        let options = RunningService.Options(appCheck: AppCheck(try AppCheckRoutePolicies.all()))
        try await RunningService.with(options) { service in
            let series = "siwa_app_check_requests_total{target_kind=\"oauth_client\",target=\"phone\","
            let start = try await service.get("/metrics").text
            for kind in AppCheckKind.allCases {
                #expect(start.contains("\(series)kind=\"\(kind.rawValue)\"} 0\n"))
            }
            options.appCheck.counts.add(.outdatedApp, for: .oauthClient(id: "phone"), at: Self.now)
            #expect(try await service.get("/metrics").text.contains("\(series)kind=\"outdated_app\"} 1\n"))
        }
    }

    @Test(arguments: AppCheckRefusal.Code.allCases)
    func `a refusal says its cause, and if a new key would pass`(code: AppCheckRefusal.Code) throws {
        let cause = AppCheckCause(AppAttestationError(.environmentMismatch))
        let problem = Problem(describing: AppCheckRefusal(code, cause: cause))
        #expect(problem.status.code == 401)
        let json = try JSONValue(parsing: ProblemBody(problem: problem, requestID: "x").json())
        #expect(json["code"]?.string == code.rawValue)
        expect(json, has: ["cause": "environment_mismatch", "re_attest": true])
    }

    @Test(arguments: AppCheckRefusal.Code.allCases)
    func `at the endpoints of OAuth a refusal is invalid_client with the same members`(
        code: AppCheckRefusal.Code
    ) throws {
        let response = try #require(
            HTTPResponse.oauthError(OAuthError(AppCheckRefusal(code, cause: .proofMissing)) as any Error))
        #expect(response.status.code == 401)
        #expect(response.code == "invalid_client")
        let json = try JSONValue(parsing: response.body)
        expect(json, has: ["error": "invalid_client", "cause": "proof_missing", "re_attest": false])
    }
}
