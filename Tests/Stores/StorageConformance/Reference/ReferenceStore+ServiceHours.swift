public import AppleAccounts
import Synchronization

extension ReferenceStore: ServiceHourStore {
    public func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        state.withLock { state in
            for count in counts {
                state.serviceHours[count.hour, default: [:]][count.name, default: [:]][count.replica] =
                    count.count
            }
        }
    }

    public func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        state.withLock { state in
            state.serviceHours.filter { $0.key >= hour }.flatMap { hour, names in
                names.map { name, replicas in
                    ServiceHourSum(hour: hour, name: name, count: replicas.values.reduce(0, +))
                }
            }.sorted { ($0.hour, $0.name) < ($1.hour, $1.name) }
        }
    }

    public func purgeServiceHours(before moment: Moment) async throws -> Int {
        state.withLock { state in
            let gone = state.serviceHours.filter { $0.key < moment }
            for hour in gone.keys { state.serviceHours[hour] = nil }
            return gone.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
        }
    }
}
