public import AppAttestation
import Synchronization

extension ReferenceStore: AppCheckHourStore {
    public func addAppCheckHours(_ hours: [AppCheckHour]) async throws {
        state.withLock { state in
            for hour in hours {
                state.appCheckHours[hour.target, default: [:]][hour.hour, default: AppCheckTally()] +=
                    hour.tally
            }
        }
    }

    public func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        state.withLock { state in
            targets.flatMap { target in
                (state.appCheckHours[target] ?? [:]).filter { $0.key >= hour }
                    .map { AppCheckHour(target: target, hour: $0.key, tally: $0.value) }
            }.sorted { $0.hour < $1.hour }
        }
    }

    public func purgeAppCheckHours(before end: Int64) async throws -> Int {
        state.withLock { state in
            var count = 0
            for (target, hours) in state.appCheckHours {
                let kept = hours.filter { $0.key >= end }
                count += hours.count - kept.count
                state.appCheckHours[target] = kept
            }
            return count
        }
    }
}
