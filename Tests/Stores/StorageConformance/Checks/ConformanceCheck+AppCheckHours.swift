import AppAttestation

extension ConformanceCheck {
    private static let app = AppCheckTarget.app(bundleID: "com.example.app")
    /// Of the same name.
    private static let client = AppCheckTarget.oauthClient(id: "com.example.app")
    private static let day: Int64 = 1_764_000_000 / 86_400 * 86_400

    static let appCheckHours = [
        ConformanceCheck("adds the counts of App Check by target and hour") { store in
            let first = AppCheckHour(
                target: app, hour: day,
                tally: AppCheckTally(verified: 1, outdatedApp: 2, unknownOrigin: 3, invalid: 4))
            let next = AppCheckHour(target: app, hour: day + 3600, tally: AppCheckTally(invalid: 1))
            let other = AppCheckHour(target: client, hour: day, tally: AppCheckTally(verified: 9))
            try await store.addAppCheckHours([next, other, first])
            try await store.addAppCheckHours([first])
            try await store.addAppCheckHours([])
            let sum = AppCheckHour(
                target: app, hour: day,
                tally: AppCheckTally(verified: 2, outdatedApp: 4, unknownOrigin: 6, invalid: 8))
            try expectEqual(try await store.appCheckHours(of: [app], from: 0), [sum, next])
            try expectEqual(try await store.appCheckHours(of: [app], from: day + 1), [next])
            try expectEqual(try await store.appCheckHours(of: [client], from: day), [other])
            try expectEqual(try await store.appCheckHours(of: [], from: 0), [])
            let all = try await store.appCheckHours(of: [client, app], from: 0)
            try expectEqual(all.map(\.hour), [day, day, day + 3600])
            try expectEqual(Set(all), [sum, next, other])
        },
        ConformanceCheck("loses no count of App Check of eight callers at once") { store in
            let hours = (0..<6).flatMap { number in
                [app, client].map { target in
                    AppCheckHour(
                        target: target, hour: day + 3600 * number, tally: AppCheckTally(unknownOrigin: 1))
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<10 {
                            try await store.addAppCheckHours(
                                number.isMultiple(of: 2) ? hours : hours.reversed())
                        }
                    }
                }
                try await group.waitForAll()
            }
            let stored = try await store.appCheckHours(of: [app, client], from: 0)
            try expectEqual(stored.map(\.tally.unknownOrigin), Array(repeating: 80, count: 12))
        },
        ConformanceCheck("forgets the hours of App Check that are over") { store in
            let hours = (0..<4).map {
                AppCheckHour(target: app, hour: day + 3600 * $0, tally: AppCheckTally(verified: 1))
            }
            try await store.addAppCheckHours(hours)
            try expectEqual(try await store.purgeAppCheckHours(before: day + 7200), 2)
            try expectEqual(try await store.purgeAppCheckHours(before: day + 7200), 0)
            try expectEqual(try await store.appCheckHours(of: [app], from: 0), Array(hours.dropFirst(2)))
        },
    ]
}
