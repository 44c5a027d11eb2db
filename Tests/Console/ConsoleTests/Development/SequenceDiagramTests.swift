import Testing

@testable import Console

@Suite struct SequenceDiagramTests {
    private static func exchange(
        _ id: String, _ from: WorldExchange.Party, _ to: WorldExchange.Party, _ begin: UInt64, _ end: UInt64,
        status: Int? = 200, standard: String = "RFC 6749 §4.1.3", isOneWay: Bool = false
    ) -> WorldExchange {
        WorldExchange(
            id: id, from: from, to: to, title: "Step \(id)", standard: standard, request: "GET /",
            response: "",
            status: status, at: 1_767_225_600_123, begin: begin * 1_000_000, end: end * 1_000_000,
            isOneWay: isOneWay)
    }

    @Test func `what happens within an exchange is between its request and its answer`() {
        let diagram = SequenceDiagram([
            Self.exchange("outer", .browser, .siwa, 0, 30), Self.exchange("inner", .siwa, .apple, 10, 20),
        ])
        #expect(diagram.arrows.map(\.href) == ["outer", "inner", "inner", "outer"].map(Self.path))
        #expect(diagram.arrows.map(\.isResponse) == [false, false, true, true])
        #expect(diagram.arrows.map(\.y) == diagram.arrows.map(\.y).sorted())
        #expect(Set(diagram.arrows.map(\.y)).count == 4)
        #expect(diagram.lifelineEnd > diagram.arrows.map(\.standardY).max() ?? 0)
        #expect(diagram.height > diagram.lifelineEnd)
    }

    @Test func `an arrow goes from its sender's column to its receiver's, and the answer back`() throws {
        let diagram = SequenceDiagram([Self.exchange("1", .google, .siwa, 0, 12)])
        let (google, siwa) = (diagram.lanes[1].x, diagram.lanes[2].x)
        let (request, response) = (diagram.arrows[0], diagram.arrows[1])
        #expect((request.from, response.from) == (google, siwa))
        #expect(request.head.hasPrefix("\(siwa),") && response.head.hasPrefix("\(google),"))
        #expect(request.to < siwa && response.to > google)
        #expect((request.text, request.standard) == ("Step 1", "RFC 6749 §4.1.3"))
        #expect((response.text, response.standard) == ("200 in 12 ms", nil))
        #expect(request.time == "00:00:00.123" && response.time.isEmpty)
        #expect(request.label == "00:00:00.123 Google to siwa: Step 1, RFC 6749 §4.1.3")
        #expect(response.label == "siwa to Google: answer to Step 1, 200 in 12 ms")
    }

    @Test(arguments: [(200, false), (303, false), (400, true), (503, true), (nil, true)] as [(Int?, Bool)])
    func `a refused or lost answer is marked`(status: Int?, isBad: Bool) {
        let diagram = SequenceDiagram([Self.exchange("1", .siwa, .apple, 0, 1, status: status)])
        #expect(diagram.arrows.map(\.isBad) == [false, isBad])
        #expect(diagram.arrows[1].text == status.map { "\($0) in 1.0 ms" } ?? "no answer")
    }

    @Test func `a step that leads the browser has no answer`() {
        let diagram = SequenceDiagram([
            Self.exchange("1", .google, .browser, 0, 0, status: nil, isOneWay: true)
        ])
        #expect(diagram.arrows.map(\.isResponse) == [false])
        #expect(diagram.arrows.map(\.isBad) == [false])
    }

    @Test func `a pause is shown, and nothing is drawn over it`() throws {
        let diagram = SequenceDiagram([
            Self.exchange("1", .browser, .siwa, 0, 1), Self.exchange("2", .browser, .siwa, 125_000, 125_001),
        ])
        let pause = try #require(diagram.pauses.first)
        #expect(diagram.pauses.count == 1 && pause.text == "2 min later")
        #expect(diagram.arrows[1].y < pause.y && pause.y < diagram.arrows[2].textY - 10)
    }

    @Test func `a long title is cut to the arrow`() {
        let title = String(repeating: "long ", count: 30)
        let exchange = WorldExchange(
            id: "1", from: .browser, to: .apple, title: title, standard: "", request: "", response: "",
            status: 200, at: 0, begin: 0, end: 1)
        let text = SequenceDiagram([exchange]).arrows[0].text
        #expect(text.count <= 3 * 34 && text.hasSuffix("…"))
    }

    @Test(arguments: [
        ("RFC 6749 §4.1.3", "https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3"),
        ("OpenID Connect Core §3.1.2", nil), ("Apple: TN3159", nil), ("", nil),
    ])
    func `a section of an RFC has an address`(standard: String, url: String?) {
        #expect(Self.exchange("1", .siwa, .apple, 0, 1, standard: standard).standardURL == url)
    }

    @Test func `without exchanges only the columns are drawn`() {
        let diagram = SequenceDiagram([])
        #expect(diagram.arrows.isEmpty && diagram.pauses.isEmpty && diagram.lanes.count == 4)
    }

    private static func path(_ id: String) -> String { "/console/world/exchanges/\(id)" }
}
