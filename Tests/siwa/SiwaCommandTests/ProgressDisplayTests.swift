import Testing

@testable import siwa

@Suite struct ProgressDisplayTests {
    @Test func `a terminal gets a bar that redraws itself, not too often`() {
        var display = ProgressDisplay(title: "work", total: 200, isTerminal: true)
        let first = display.update(done: 50, after: .seconds(5))
        #expect(first == "\rwork [######------------------] 25 %, 50 of 200, 10/s, 15 s left\u{1B}[K")
        #expect(display.update(done: 51, after: .seconds(5) + .milliseconds(99)) == nil)
        #expect(display.update(done: 52, after: .seconds(5) + .milliseconds(100)) != nil)
    }

    @Test(arguments: [1, 10, 30, 45, 60, 79])
    func `the bar is shorter than a line of the terminal`(columns: Int) {
        var display = ProgressDisplay(title: "asking Apple", total: 2_000_000, isTerminal: true)
        display.columns = columns
        let line = display.update(done: 1_234_567, after: .seconds(3600)) ?? ""
        let shown = line.dropFirst().dropLast(3)
        #expect((1...max(1, columns - 1)).contains(shown.count), "\(shown)")
        #expect(shown.contains("[") == (columns == 79))
    }

    @Test func `a pipe gets a line for each tenth`() {
        var display = ProgressDisplay(title: "work", total: 100, isTerminal: false)
        let lines = (1...100).compactMap { display.update(done: $0, after: .milliseconds($0)) }
        #expect(lines.count == 10)
        #expect(lines.first == "work: 10 %, 10 of 100\n")
        #expect(lines.allSatisfy { !$0.contains("\r") && !$0.contains("\u{1B}") })
    }

    @Test func `a pipe gets a line every half minute when it takes long`() {
        var display = ProgressDisplay(title: "work", total: 1_000_000, isTerminal: false)
        let lines = (1...100).compactMap { display.update(done: $0, after: .seconds($0)) }
        #expect(lines.count == 3)
        #expect(lines.first == "work: 0 %, 30 of 1000000, 60/min, 277 h 46 min left\n")
    }

    @Test(arguments: [(100, 1), (101, 2)])
    func `a pipe gets the last line once`(total: Int, lines: Int) {
        var display = ProgressDisplay(title: "work", total: total, isTerminal: false)
        let texts = [display.update(done: 100, after: .zero), display.end(done: total, after: .zero)]
        #expect(texts.compactMap { $0 }.count == lines)
        #expect(texts.compactMap { $0 }.last == "work: 100 %, \(total) of \(total)\n")
    }

    @Test(arguments: [true, false])
    func `the end is always written, also for an empty total`(isTerminal: Bool) {
        let display = ProgressDisplay(title: "work", total: 0, isTerminal: isTerminal)
        #expect(display.end(done: 0, after: .zero)?.contains("100 %, 0 of 0") == true)
        #expect(display.end(done: 0, after: .zero)?.hasSuffix("\n") == true)
    }
}
