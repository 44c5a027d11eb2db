import AppleAccounts
import PageTemplates
import Testing

@testable import Console

@Suite struct PlotTests {
    @Test(
        arguments: [
            (0.0, true, [0, 1]), (1, true, [0, 1]), (3, true, [0, 1, 2, 3]), (4, true, [0, 1, 2, 3, 4]),
            (5, true, [0, 2, 4, 6]), (9, true, [0, 5, 10]), (100, true, [0, 50, 100]),
            (0.3, false, [0, 0.1, 0.2, 0.3]), (1_000_000, true, [0, 500_000, 1_000_000]),
            (.infinity, true, [0, 1]), (-1, true, [0, 1]),
        ] as [(Double, Bool, [Double])])
    func `an axis ends at a round number, with at most five grid lines`(
        largest: Double, isWhole: Bool, marks: [Double]
    ) {
        let scale = PlotScale(upTo: largest, isWhole: isWhole)
        #expect(
            zip(scale.marks, marks).allSatisfy { abs($0 - $1) < 1e-9 } && scale.marks.count == marks.count)
    }

    @Test(arguments: [
        (0.0, "0"), (1, "1"), (1.5, "1.5"), (0.25, "0.25"), (12.34, "12.3"), (123.4, "123"), (9999, "9999"),
        (12_345, "12.3 k"), (1_200_000, "1.2 M"), (3e9, "3 G"), (-2, "-2"),
    ])
    func `numbers are short`(value: Double, text: String) {
        #expect(PlotNumber.text(value) == text)
    }

    @Test func `a line ends where a value is missing`() {
        let frame = PlotFrame(count: 5, top: 10)
        #expect(frame.line([0, 10, nil, 5, nil]) == "M46.0 172.0L171.5 12.0M422.5 92.0h2")
        #expect(frame.line([nil, nil]) == "")
    }

    @Test func `columns stand on each other, and no value leaves the frame`() {
        let frame = PlotFrame(count: 1, top: 10)
        let path = frame.columns(from: [4], to: [10])
        #expect(path.contains("v-96.0") && path.hasSuffix("v96.0Z"))
        #expect(frame.columns(from: [4], to: [4]) == "")
        #expect(frame.y(1e12) == 12 && frame.y(-5) == 172)
    }

    @Test func `shows the codes with most refusals, and the others as one`() {
        var counts: NumberSeries.Counts = [:]
        for (index, code) in ["a", "b", "c", "d", "e", "f"].enumerated() {
            counts[.refused(code)] = Int64(10 - index)
        }
        let plot = ServicePlots(
            period: .day, points: [PlotPoint(begin: Moment(milliseconds: 0), counts: counts)]
        ).refusals
        #expect(plot.keys.map(\.label) == ["a", "b", "c", "d", "others"])
        #expect(plot.keys.map(\.total) == ["10", "9", "8", "7", "11"])
        #expect(plot.rows.map(\.cells) == [["10", "9", "8", "7", "11"]])
    }

    @Test func `estimates quantiles within a bucket`() throws {
        let counts: NumberSeries.Counts = [
            .latency("1000000"): 50, .latency("2500000"): 49, .latency("10000000"): 0, .latency("+Inf"): 1,
        ]
        let latency = LatencyCounts(counts)
        #expect(latency.count == 100)
        #expect(try #require(latency.quantile(0.5)) == 1)
        #expect(try #require(latency.quantile(0.99)) == 2.5)
        #expect(try #require(latency.quantile(1)) == 10)
        #expect(LatencyCounts([:]).quantile(0.5) == nil)
    }

    @Test func `each plot has its numbers as a table, and words for readers who do not see it`() throws {
        let points = (0..<61).map { minute in
            PlotPoint(begin: Moment(milliseconds: Int64(minute) * 60_000), counts: [.signIn: 1])
        }
        let plot = ServicePlots(period: .hour, points: points).signIns
        let page = try #require(try Templates.library().render("plot", plot))
        #expect(page.contains("role=\"img\" aria-labelledby=\"sign-ins-title sign-ins-text\""))
        #expect(page.contains("<desc id=\"sign-ins-text\">By minute over the last hour: Sign-ins 61."))
        #expect(plot.rows.count == 13 && plot.rows.first?.time == "01:00")
        #expect(page.contains("<th scope=\"row\">00:05</th><td class=\"number\">5</td>"))
        #expect(!page.contains("style="))
        #expect(plot.times.map(\.label) == ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"])
    }
}
