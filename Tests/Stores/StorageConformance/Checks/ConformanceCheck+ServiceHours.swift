import AppleAccounts

extension ConformanceCheck {
    private static func count(
        _ replica: String, _ hour: Int64, _ name: String, _ count: Int64
    ) -> ServiceHourCount {
        ServiceHourCount(replica: replica, hour: moment(hour), name: name, count: count)
    }

    private static func moment(_ hour: Int64) -> Moment {
        Moment(milliseconds: 1_764_000_000_000 / 86_400_000 * 86_400_000 + hour * 3_600_000)
    }

    static let serviceHours = [
        ConformanceCheck("sums the service's numbers over replicas, by hour and name") { store in
            try await store.setServiceHours([
                count("a", 1, "sign_in", 5), count("a", 0, "sign_in", 1), count("a", 1, "refused.x", 2),
            ])
            try await store.setServiceHours([count("b", 1, "sign_in", 7)])
            try await store.setServiceHours([])
            let (first, refused) = (
                ServiceHourSum(hour: moment(0), name: "sign_in", count: 1),
                ServiceHourSum(hour: moment(1), name: "refused.x", count: 2)
            )
            let second = ServiceHourSum(hour: moment(1), name: "sign_in", count: 12)
            try expectEqual(try await store.serviceHours(from: moment(0)), [first, refused, second])
            try expectEqual(try await store.serviceHours(from: moment(1)), [refused, second])
            try expectEqual(try await store.serviceHours(from: moment(2)), [])
        },
        ConformanceCheck("counts nothing twice when a replica writes its hour again") { store in
            for number in 1...3 {
                try await store.setServiceHours([count("a", 0, "sign_in", Int64(number))])
                try await store.setServiceHours([count("b", 0, "sign_in", 10)])
            }
            try expectEqual(
                try await store.serviceHours(from: moment(0)),
                [ServiceHourSum(hour: moment(0), name: "sign_in", count: 13)])
        },
        ConformanceCheck("keeps the hours of eight replicas that write at once") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for replica in 0..<8 {
                    group.addTask {
                        for number in 1...5 {
                            try await store.setServiceHours(
                                (0..<6).map { count("replica-\(replica)", $0, "sign_in", Int64(number)) })
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sums = try await store.serviceHours(from: moment(0))
            try expectEqual(sums.map(\.count), Array(repeating: 40, count: 6))
        },
        ConformanceCheck("forgets the service's hours that are over") { store in
            try await store.setServiceHours((0..<4).map { count("a", $0, "sign_in", 1) })
            try expectEqual(try await store.purgeServiceHours(before: moment(2)), 2)
            try expectEqual(try await store.purgeServiceHours(before: moment(2)), 0)
            try expectEqual(
                try await store.serviceHours(from: moment(0)).map(\.hour), [moment(2), moment(3)])
        },
    ]
}
