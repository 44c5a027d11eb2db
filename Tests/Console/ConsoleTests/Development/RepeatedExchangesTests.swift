import Testing

@testable import Console

@Suite struct RepeatedExchangesTests {
    private static func exchange(
        _ id: Int, _ from: WorldExchange.Party = .siwa, _ title: String = "Fetch Apple's keys",
        status: Int? = 200, isRoutine: Bool = false
    ) -> WorldExchange {
        WorldExchange(
            id: "apple-\(id)", from: from, to: .apple, title: title, standard: "", request: "", response: "",
            status: status, at: 0, begin: UInt64(id), end: UInt64(id), isRoutine: isRoutine)
    }

    @Test func `what fails once more is hidden until it succeeds, and other steps are not`() {
        let all = [
            Self.exchange(1, status: 503), Self.exchange(2, status: nil), Self.exchange(3, status: 503),
            Self.exchange(4, .siwa, "Exchange Apple's code", status: 400), Self.exchange(5),
            Self.exchange(6), Self.exchange(7, status: 503), Self.exchange(8, isRoutine: true),
        ]
        #expect(all.repeated == ["apple-2", "apple-3", "apple-8"])
    }

    @Test func `what people do again is shown`() {
        let all = [1, 2, 3].map { Self.exchange($0, .browser, "Sign in", status: 401) }
        #expect(all.repeated.isEmpty)
    }
}
