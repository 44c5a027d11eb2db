import AppleAccounts
import Logging
import Pages
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import Console

@Suite struct NumberSeriesTests {
    private static let hour: Int64 = 3_600_000

    private func moment(minute: Int64) -> Moment {
        Moment(milliseconds: 1_764_000_000_000 / Self.hour * Self.hour + minute * 60_000)
    }

    @Test func `remembers the newest failure and the last rejected token`() {
        var series = NumberSeries()
        series.take([.storageFailure("busy"): 4], at: Moment(milliseconds: 1000))
        #expect(series.lastFailure == "busy" && series.lastRejection == nil)
        series.take(
            [.storageFailure("busy"): 4, .storageFailure("full"): 1, .checkRejected: 1],
            at: Moment(milliseconds: 2000))
        #expect(series.lastFailure == "full" && series.lastRejection == Moment(milliseconds: 2000))
        series.take(
            [.storageFailure("busy"): 4, .storageFailure("full"): 1, .checkRejected: 1],
            at: Moment(milliseconds: 3000))
        #expect(series.lastFailure == "full" && series.lastRejection == Moment(milliseconds: 2000))
    }

    @Test func `counts the growth of each total in its minute, from 0 on`() {
        var series = NumberSeries()
        let changes = [
            series.take([.signIn: 2, .revoked: 0], at: moment(minute: 0)),
            series.take([.signIn: 2, .revoked: 0], at: moment(minute: 0)),
            series.take([.signIn: 5, .revoked: 1], at: moment(minute: 1)),
        ]
        #expect(changes == [true, false, true])
        let minutes = series.lastHour(at: moment(minute: 2))
        #expect(minutes.count == 61)
        #expect(minutes.map(\.counts).suffix(3) == [[.signIn: 2], [.signIn: 3, .revoked: 1], [:]])
        #expect(minutes.last?.begin == moment(minute: 2))
        #expect(series.sum(ofLastMinutes: 1, at: moment(minute: 2)) == [.signIn: 3, .revoked: 1])
    }

    /// Two readers read 100 and 110, and the one with 100 is the slower one.
    @Test func `totals that arrive late are counted once`() {
        var series = NumberSeries()
        for total in [90, 110, 100, 120] as [Int64] {
            series.take([.signIn: total, .revoked: 1], at: moment(minute: 0))
        }
        #expect(series.sum(ofLastMinutes: 0, at: moment(minute: 0)) == [.signIn: 120, .revoked: 1])
    }

    @Test func `knows what is not stored yet of each hour`() {
        var series = NumberSeries()
        series.take([.signIn: 3], at: moment(minute: 0))
        #expect(series.unstoredHours == [moment(minute: 0): [.signIn: 3]])
        let first = series.takeChangedHours()
        #expect(series.unstoredHours == [:], "it is being stored")
        series.take([.signIn: 5], at: moment(minute: 1))
        #expect(series.unstoredHours == [moment(minute: 0): [.signIn: 2]])
        series.putBack(first)
        #expect(series.unstoredHours == [moment(minute: 0): [.signIn: 5]])
        _ = series.takeChangedHours()
        series.forgetStoredHours(at: moment(minute: 1))
        series.take([.signIn: 6, .revoked: 1], at: moment(minute: 2))
        #expect(series.unstoredHours == [moment(minute: 0): [.signIn: 1, .revoked: 1]])
    }

    @Test func `keeps 61 minutes and 48 hours, for any number of readings`() {
        var series = NumberSeries()
        for minute in 0..<Int64(100 * 60) {
            series.take([.signIn: minute + 1, .turnedAway: minute + 1], at: moment(minute: minute))
        }
        let minutes = series.lastHour(at: moment(minute: 100 * 60 - 1))
        #expect(minutes.count == 61 && minutes.allSatisfy { $0.counts == [.signIn: 1, .turnedAway: 1] })
        // Numbers that are not stored are not in the hours.
        let hours = series.takeChangedHours()
        #expect(hours.count == NumberSeries.mostHours)
        #expect(Set(hours.values) == [[.signIn: 60]])
    }

    @Test func `an hour is written whole, and forgotten when it is over and stored`() {
        var series = NumberSeries()
        series.take([.signIn: 1], at: moment(minute: 58))
        let first = series.takeChangedHours()
        #expect(first == [moment(minute: 0): [.signIn: 1]])
        series.take([.signIn: 3], at: moment(minute: 59))
        let hours = series.takeChangedHours()
        #expect(hours == [moment(minute: 0): [.signIn: 3]])
        let none = series.takeChangedHours()
        #expect(none == [:])
        series.putBack(hours)
        series.forgetStoredHours(at: moment(minute: 61))
        let again = series.takeChangedHours()
        #expect(again == hours)
        series.forgetStoredHours(at: moment(minute: 61))
        #expect(series.takeChangedHours() == [:] && series.unstoredHours == [:])
    }
}

@Suite struct ServiceNumbersTests {
    private let source = Totals()
    private let now = Moment(milliseconds: 1_764_000_000_000)

    private func numbers(_ replica: String, _ store: any ServiceHourStore) -> ServiceNumbers {
        ServiceNumbers(
            totals: { [source] in source.counts.withLock { $0 } }, store: store, replica: replica,
            now: { [now] in now }, logger: Logger(label: "test"))
    }

    @Test func `sums the hours of all replicas, those of an ended process included`() async throws {
        let store = ReferenceStore()
        source.counts.withLock { $0 = [.signIn: 2, .refused("token_expired"): 1] }
        let (one, other) = (numbers("a", store), numbers("b", store))
        one.read()
        await one.write()
        await one.write()
        source.counts.withLock { $0[.signIn] = 5 }
        let hours = try await other.hours(24)
        #expect(hours.count == 24)
        #expect(
            try await store.serviceHours(from: now.advanced(byMilliseconds: -3_600_000)).map(\.count).sorted()
                == [1, 2], "looking writes nothing")
        #expect(hours.last?.counts == [.signIn: 7, .refused("token_expired"): 2])
        #expect(hours.dropLast().allSatisfy { $0.counts == [:] })
    }

    @Test func `stores no caller's name`() async throws {
        let store = ReferenceStore()
        source.counts.withLock {
            $0 = [.signIn: 1, .refused(caller: "backend"): 3, .answered(caller: "x"): 1]
        }
        let one = numbers("a", store)
        one.read()
        await one.write()
        #expect(try await store.serviceHours(from: Moment(milliseconds: 0)).map(\.name) == ["sign_in"])
        #expect(one.sum(ofLastMinutes: 5)[.refused(caller: "backend")] == 3)
    }

    @Test func `what could not be stored is stored with the next write`() async throws {
        let store = FailingHourStore()
        source.counts.withLock { $0 = [.signIn: 1] }
        let one = numbers("a", store)
        one.read()
        await one.write()
        #expect(try await store.serviceHours(from: Moment(milliseconds: 0)) == [])
        store.isBroken.withLock { $0 = false }
        await one.write()
        #expect(try await store.serviceHours(from: Moment(milliseconds: 0)).map(\.count) == [1])
    }
}

extension ServiceNumbersTests {
    @Test(.timeLimit(.hung))
    func `of two writes at the same time the older does not end last`() async throws {
        let store = SlowHourStore()
        let one = numbers("a", store)
        source.counts.withLock { $0 = [.signIn: 100] }
        one.read()
        let first = Task { await one.write() }
        await store.begun()
        source.counts.withLock { $0 = [.signIn: 110] }
        one.read()
        await one.write()
        store.release()
        await first.value
        #expect(try await one.hours(1).last?.counts == [.signIn: 110])
        await one.write()
        #expect(try await store.serviceHours(from: Moment(milliseconds: 0)).map(\.count) == [110])
        #expect(try await one.hours(1).last?.counts == [.signIn: 110])
    }
}

/// A store of hours whose first write waits until it is released.
private final class SlowHourStore: ServiceHourStore {
    private let store = ReferenceStore()
    private let writes = Mutex(0)
    private let (beginnings, beginning) = AsyncStream<Void>.makeStream()
    private let (releases, releasing) = AsyncStream<Void>.makeStream()

    func begun() async { for await _ in beginnings { return } }
    func release() { releasing.yield() }

    func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        let isFirst = writes.withLock { writes in
            writes += 1
            return writes == 1
        }
        if isFirst {
            beginning.yield()
            for await _ in releases { break }
        }
        try await store.setServiceHours(counts)
    }

    func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        try await store.serviceHours(from: hour)
    }

    func purgeServiceHours(before moment: Moment) async throws -> Int {
        try await store.purgeServiceHours(before: moment)
    }
}

/// Totals that a test sets.
private final class Totals: Sendable {
    let counts = Mutex<NumberSeries.Counts>([:])
}

/// A store of hours that refuses to write until it is repaired.
private final class FailingHourStore: ServiceHourStore {
    let isBroken = Mutex(true)
    private let store = ReferenceStore()

    func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        guard !isBroken.withLock({ $0 }) else { throw StorageError(.unavailable, detail: "") }
        try await store.setServiceHours(counts)
    }

    func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        try await store.serviceHours(from: hour)
    }

    func purgeServiceHours(before moment: Moment) async throws -> Int {
        try await store.purgeServiceHours(before: moment)
    }
}

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
            period: .day, points: [NumberSeries.Point(begin: Moment(milliseconds: 0), counts: counts)]
        ).refusals
        let tree = PageTree(plot.html.string)
        #expect(tree.all("li").map(\.text) == ["a 10", "b 9", "c 8", "d 7", "others 11"])
        #expect(tree.all("li").flatMap { $0.all("span", "muted") }.count == 5)
        #expect(tree.rows().map { $0.dropFirst() } == [["10", "9", "8", "7", "11"]])
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

    @Test func `each plot has its numbers as a table, and words for readers who do not see it`() {
        let points = (0..<61).map { minute in
            NumberSeries.Point(begin: Moment(milliseconds: Int64(minute) * 60_000), counts: [.signIn: 1])
        }
        let plot = ServicePlots(period: .hour, points: points).signIns
        let page = plot.html.string
        #expect(page.contains("role=\"img\" aria-labelledby=\"sign-ins-title sign-ins-text\""))
        #expect(page.contains("<desc id=\"sign-ins-text\">By minute over the last hour: Sign-ins 61."))
        let tree = PageTree(page)
        #expect(tree.rows("Sign-ins as a table").count == 13)
        #expect(tree.rows("Sign-ins as a table").first?.first == "01:00")
        #expect(page.contains("<th scope=\"row\">00:05</th><td class=\"number\">5</td>"))
        #expect(!page.contains("style="))
        let times = tree.all("text").filter { $0.attributes["text-anchor"] == "middle" }
        #expect(times.map(\.text) == ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"])
    }
}
