/// A state of the service that must fire one alert, as the metrics that it shows.
struct AlertScenario: Sendable {
    let alert: String
    /// The lines of `/metrics` some seconds after the beginning. Counters grow with the time.
    let lines: @Sendable (_ seconds: Int) -> [String]

    init(_ alert: String, _ lines: @escaping @Sendable (_ seconds: Int) -> [String]) {
        (self.alert, self.lines) = (alert, lines)
    }

    /// A scenario for each alert but `SiwaDown`, which the test fires by stopping a service.
    static let all: [AlertScenario] = [
        AlertScenario("SiwaCannotVerify") { _ in ["siwa_keys_ready 0"] },
        AlertScenario("SiwaKeysStale") { _ in ["siwa_keys_ready 1", "siwa_keys_stale 1"] },
        AlertScenario("SiwaDatabaseFailing") { _ in ["siwa_database_ready 0"] },
        AlertScenario("SiwaStandbyLost") { _ in
            ["siwa_database_standbys_required 1", "siwa_database_standbys_connected 0"]
        },
        AlertScenario("SiwaOverloaded") { ["siwa_http_requests_turned_away_total \($0)"] },
        AlertScenario("SiwaRefusedByApple") { seconds in
            [#"siwa_apple_exchanges_total{result="client_rejected"} \#(seconds)"#]
        },
        AlertScenario("SiwaEventGivenUp") { seconds in
            [#"siwa_event_deliveries_total{result="abandoned"} \#(seconds)"#]
        },
        AlertScenario("SiwaReceiverBehind") { _ in
            [
                #"siwa_event_receiver_waiting{receiver="backend"} 7"#,
                #"siwa_event_receiver_paused{receiver="backend"} 0"#,
            ]
        },
        AlertScenario("SiwaReceiverPaused") { _ in
            [
                #"siwa_event_receiver_waiting{receiver="backend"} 7"#,
                #"siwa_event_receiver_paused{receiver="backend"} 1"#,
            ]
        },
        AlertScenario("SiwaSealingKeyWrong") { _ in ["siwa_sealed_values_unreadable 3"] },
        AlertScenario("SiwaClockWrong") { _ in ["siwa_clock_skew_seconds -120"] },
        AlertScenario("SiwaTrustedProxiesMissing") { _ in ["siwa_trusted_proxies_missing 1"] },
        AlertScenario("SiwaNotificationsSilent") { seconds in
            [
                #"siwa_apple_checks_total{result="rejected"} \#(seconds)"#,
                "siwa_notification_age_seconds 90000",
            ]
        },
        AlertScenario("SiwaRefusesMany") { seconds in
            [
                #"siwa_verifications_total{kind="identity-token",result="accepted"} \#(60 * seconds)"#,
                #"siwa_verifications_total{kind="identity-token",result="token_expired"} \#(40 * seconds)"#,
            ]
        },
        AlertScenario("SiwaRefusesCalls") { seconds in
            [
                #"siwa_http_refusals_total{code="nonce_used"} \#(20 * seconds)"#,
                #"siwa_http_requests_total{route="/v1/sign-ins",status="401"} \#(20 * seconds)"#,
                #"siwa_http_requests_total{route="/v1/sign-ins",status="201"} \#(80 * seconds)"#,
            ]
        },
        AlertScenario("SiwaRefusesClients") { seconds in
            [
                #"siwa_oauth_token_refusals_total{client="shop",reason="token_unknown"} \#(20 * seconds)"#,
                #"siwa_oauth_token_requests_total{client="shop",grant="refresh_token",result="issued"} \#(seconds)"#,
            ]
        },
        AlertScenario("SiwaAppCheckInvalid") { seconds in
            [("invalid", 20), ("verified", 30)].map { kind, rate in
                #"siwa_app_check_requests_total{target_kind="app",target="com.example.app",kind="\#(kind)"} \#(rate * seconds)"#
            }
        },
        AlertScenario("SiwaSlow") { seconds in
            [("1", 0), ("2.5", 10), ("+Inf", 10)].map { bound, rate in
                #"siwa_http_request_duration_seconds_bucket{route="/v1/sign-ins",le="\#(bound)"} \#(rate * seconds)"#
            }
        },
        AlertScenario("SiwaWorkOverdue") { _ in [#"siwa_work_oldest_seconds{queue="erasure"} 4000"#] },
        AlertScenario("SiwaDiskNearlyFull") { _ in ["siwa_database_disk_free_bytes 1000000"] },
    ]
}
