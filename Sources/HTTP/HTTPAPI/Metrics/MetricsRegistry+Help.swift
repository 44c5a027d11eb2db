import SignIn

extension MetricsRegistry: DescribedMetricsFactory {
    package func describeCounter(_ label: String, help: String) {
        describe(Self.totalName(label), help: help)
    }

    package func describeMeter(_ label: String, help: String) {
        describe(label, help: help)
    }
}
