import AppleEmulator
import HTTPTypes
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite struct OutboxTests {
    @Test func `retries with growing delays until the receiver accepts it`() async throws {
        try await ReceivingServer.run(answering: .serviceUnavailable, times: 3) { receiver in
            try await EmulatorUnderTest.run {
                $0.notificationURL = receiver.url
            } _: { apple in
                _ = try await apple.mint()
                let first = try await apple.post("/emulator/users/default/revoke-consent?format=text")
                #expect(first.text == "503")
                try await eventually { receiver.bodies.count == 4 }
                try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
                #expect(apple.clock.sleeps == [1000, 2000, 4000])
                #expect(Set(receiver.bodies).count == 1)
                let outbox = try await apple.get("/emulator/outbox").json
                let postedAt = outbox["recent"]?.array?.first?["posted_at"]?.string
                #expect(postedAt?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
                #expect(
                    outbox["recent"]?.array?.map { $0["outcome"] } == [
                        .string("503"), .string("503"), .string("503"), .string("200"),
                    ])
                #expect(try await apple.counter("deliveries") == 4)
                #expect(try await apple.counter("deliveries_refused") == 3)
            }
        }
    }

    @Test func `stops retrying after the last attempt`() async throws {
        try await EmulatorUnderTest.run {
            // Port 1 is reserved, and nothing listens there.
            $0.notificationURL = "http://127.0.0.1:1/"
        } _: { apple in
            let deliveries = try await apple.emulator.carryOut(.deleteAccount)
            #expect(deliveries.map(\.outcome) == [.failed(.connectionFailed)])
            try await eventually { apple.clock.sleeps.count == DeliveryPlan.maximumAttempts - 1 }
            try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
            #expect(apple.clock.sleeps.last == DeliveryPlan.longestRetryDistance)
            #expect(apple.emulator.state.counters.deliveries == DeliveryPlan.maximumAttempts)
        }
    }

    @Test func `posts once when retries are off`() async throws {
        try await ReceivingServer.run(answering: .unauthorized) { receiver in
            try await EmulatorUnderTest.run {
                $0.notificationURL = receiver.url
            } _: { apple in
                _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"retry":false}"#)
                _ = try await apple.post("/emulator/users/default/revoke-consent")
                #expect(apple.emulator.state.waitingNotifications.isEmpty)
                #expect(receiver.bodies.count == 1)
            }
        }
    }

    @Test func `posts copies of one notification`() async throws {
        try await ReceivingServer.run { receiver in
            try await EmulatorUnderTest.run {
                $0.notificationURL = receiver.url
            } _: { apple in
                _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"copies":3}"#)
                _ = try await apple.post("/emulator/users/default/revoke-consent")
                #expect(receiver.bodies.count == 3)
                #expect(Set(receiver.bodies).count == 1)
            }
        }
    }

    @Test(arguments: [("in_order", [0, 1, 2]), ("reversed", [2, 1, 0])])
    func `holds notifications and posts them in another order`(order: String, expected: [Int])
        async throws
    {
        try await ReceivingServer.run { receiver in
            try await EmulatorUnderTest.run {
                $0.notificationURL = receiver.url
            } _: { apple in
                _ = try await apple.mint()
                _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"hold":true}"#)
                var payloads: [String] = []
                for change in ["disable-email-forwarding", "enable-email-forwarding", "revoke-consent"] {
                    let response = try await apple.post("/emulator/users/default/\(change)").json
                    let sent = try #require(response["notifications"]?.array?.first)
                    #expect(sent["held"] == .bool(true))
                    #expect(sent["delivery"] == nil)
                    payloads.append(try #require(sent["payload"]?.string))
                }
                #expect(receiver.bodies.isEmpty)
                #expect(try await apple.get("/emulator/outbox?format=text").text == "3")
                let released = try await apple.post(
                    "/emulator/outbox/release?format=text", #"{"order":"\#(order)"}"#)
                #expect(released.text == "200\n200\n200")
                #expect(receiver.bodies == expected.map { #"{"payload":"\#(payloads[$0])"}"# })
                #expect(apple.emulator.state.waitingNotifications.isEmpty)
            }
        }
    }

    @Test func `can drop waiting notifications`() async throws {
        try await EmulatorUnderTest.run {
            $0.notificationURL = "http://127.0.0.1:1/"
        } _: { apple in
            _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"hold":true}"#)
            _ = try await apple.post("/emulator/users/default/revoke-consent")
            let left = try await apple.send(.DELETE, "/emulator/outbox").json
            #expect(left["waiting"] == .array([]))
        }
    }

    @Test func `loses the response of a receiver that accepted it, or does not reach the receiver`()
        async throws
    {
        try await ReceivingServer.run { receiver in
            try await EmulatorUnderTest.run {
                $0.notificationURL = receiver.url
            } _: { apple in
                let path = "/emulator/faults/notifications"
                _ = try await apple.send(.PUT, path, body: #"{"cut":"before_work","times":1}"#)
                let first = try await apple.post("/emulator/users/default/revoke-consent?format=text")
                #expect(first.text == "connection_failed")
                try await eventually { receiver.bodies.count == 1 }
                try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
                _ = try await apple.send(
                    .PUT, path, body: #"{"cut":"before_answer","times":1,"delay_ms":70}"#)
                let second = try await apple.post("/emulator/users/default/delete-account?format=text")
                #expect(second.text == "answer_broken")
                try await eventually { receiver.bodies.count == 3 }
                #expect(receiver.bodies[1] == receiver.bodies[2])
                #expect(apple.clock.sleeps.contains(70))
                #expect(try await apple.counter("notifications_faults") == 2)
            }
        }
    }

    @Test(arguments: [#"{"body":"html"}"#, #"{"status":500}"#])
    func `refuses faults of the receiver's response`(fault: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let response = try await apple.send(.PUT, "/emulator/faults/notifications", body: fault)
            #expect(response.code == "member_malformed")
        }
    }

    @Test(arguments: [#"{"copies":0}"#, #"{"copies":11}"#, #"{"first_retry_ms":0}"#, #"{"hold":1}"#])
    func `refuses an invalid plan`(plan: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let response = try await apple.send(.PUT, "/emulator/delivery-plan", body: plan)
            #expect(response.code == "member_malformed")
            #expect(apple.emulator.state.deliveryPlan == DeliveryPlan())
        }
    }

    @Test func `a full outbox drops its oldest notification`() async throws {
        try await EmulatorUnderTest.run {
            $0.notificationURL = "http://127.0.0.1:1/"
        } _: { apple in
            var plan = DeliveryPlan()
            plan.holds = true
            try apple.emulator.state.setDeliveryPlan(plan)
            for _ in 0..<1001 { try await apple.emulator.carryOut(.disableForwarding) }
            #expect(apple.emulator.state.waitingNotifications.count == 1000)
            #expect(apple.emulator.state.waitingNotifications[0].id == 2)
        }
    }
}
