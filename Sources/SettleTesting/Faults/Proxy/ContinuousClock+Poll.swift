extension ContinuousClock.Instant {
    /// The timeout of `poll` until this moment: never shorter, and at most a minute.
    var milliseconds: Int32 {
        let (seconds, fraction) = ContinuousClock.now.duration(to: self).components
        if seconds < 0 || fraction < 0 { return 0 }
        return seconds >= 60 ? 60_000 : Int32(seconds * 1000 + fraction / 1_000_000_000_000_000) + 1
    }
}
