import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@testable import SignIn

@Suite struct CheckScheduleTests {
    @Test(arguments: [86_400, 172_800, 4] as [Int64])
    func `comes after the interval and its margin, and within a twenty-fourth of it`(seconds: Int64) {
        let schedule = CheckSchedule(interval: .seconds(seconds))
        let interval = seconds * 1000
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<1000 {
            let next = schedule.next(after: 1000, using: &generator).milliseconds - 1000
            #expect(next >= interval + interval / 1440)
            #expect(next < interval + interval / 24)
        }
    }
}
