//! `time`: clocks and waiting, through the host. Calendar times are UTC.

use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "time",
    doc: "Clocks and waiting.",
    members: &[
        Member::Functions(FUNCTIONS),
        Member::Int("timezone", 0),
        Member::Int("altzone", 0),
        Member::Int("daylight", 0),
    ],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("asctime", "t=None, /", "Text such as 'Sun Jun 20 23:21:05 1993'.", asctime).opaque(),
    function("ctime", "secs=None, /", "Seconds since 1970 as text, in UTC.", ctime).opaque(),
    function("gmtime", "secs=None, /", "Nine numbers for a moment, in UTC.", gmtime).opaque(),
    function("localtime", "secs=None, /", "Nine numbers for a moment, in UTC.", gmtime).opaque(),
    function("monotonic", "", "Seconds on a clock that never goes back.", monotonic).opaque(),
    function("monotonic_ns", "", "The same in nanoseconds.", monotonic_ns).opaque(),
    function("perf_counter", "", "Seconds on the finest clock.", monotonic).opaque(),
    function("perf_counter_ns", "", "The same in nanoseconds.", monotonic_ns).opaque(),
    function("process_time", "", "Seconds that the session has run.", monotonic).opaque(),
    function("process_time_ns", "", "The same in nanoseconds.", monotonic_ns).opaque(),
    function("sleep", "secs, /", "Wait.", sleep),
    function("strftime", "format, t=None, /", "A moment as text, by a format.", strftime).opaque(),
    function("thread_time", "", "Seconds that the session has run.", monotonic).opaque(),
    function("time", "", "Seconds since 1970.", time).opaque(),
    function("time_ns", "", "Nanoseconds since 1970.", time_ns).opaque(),
];

fn time(cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Float(cx.host.wall()))
}

fn time_ns(cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Int((cx.host.wall() * 1e9) as i64))
}

fn monotonic(cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Float(cx.host.monotonic()))
}

fn monotonic_ns(cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Int((cx.host.monotonic() * 1e9) as i64))
}

fn sleep(cx: &mut Cx, args: Args<'_>) -> Res {
    let seconds = args.float(0)?;
    if seconds < 0.0 {
        return Err(value_error("sleep length must be non-negative"));
    }
    if seconds.is_nan() {
        return Err(value_error("Invalid value NaN (not a number)"));
    }
    cx.host.sleep(seconds);
    cx.poll()?;
    Ok(Value::None)
}

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A moment in the calendar; `weekday` counts from Monday, `yearday` from 1.
#[derive(Debug, PartialEq)]
struct Moment {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
    yearday: i64,
}

impl Moment {
    /// The moment `seconds` after 1970, by the civil calendar algorithm of Howard Hinnant.
    fn at(seconds: i64) -> Moment {
        let (days, rest) = (seconds.div_euclid(86400), seconds.rem_euclid(86400));
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize - 1];
        Moment {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 3).rem_euclid(7),
            yearday: before + day + i64::from(leap && month > 2),
        }
    }

    fn numbers(&self) -> [i64; 9] {
        let date = [self.year, self.month, self.day, self.hour, self.minute, self.second];
        let [year, month, day, hour, minute, second] = date;
        [year, month, day, hour, minute, second, self.weekday, self.yearday, 0]
    }

    fn from_numbers(value: &Value) -> Result<Moment, Raised> {
        let wrong = || type_error("Tuple or struct_time argument required");
        let items = value.as_tuple().ok_or_else(wrong)?;
        let numbers: Option<Vec<i64>> = items.iter().map(Value::as_int).collect();
        match numbers.as_deref() {
            Some([year, month @ 1..=12, day, hour, minute, second, weekday, yearday, ..]) => {
                Ok(Moment {
                    year: *year,
                    month: *month,
                    day: *day,
                    hour: *hour,
                    minute: *minute,
                    second: *second,
                    weekday: weekday.rem_euclid(7),
                    yearday: *yearday,
                })
            }
            _ => Err(wrong()),
        }
    }

    fn text(&self, directive: char) -> Option<String> {
        let (day_name, month_name) = (DAYS[self.weekday as usize], MONTHS[self.month as usize - 1]);
        let hour = (self.hour + 11) % 12 + 1;
        Some(match directive {
            'Y' => self.year.to_string(),
            'y' => format!("{:02}", self.year.rem_euclid(100)),
            'm' => format!("{:02}", self.month),
            'd' => format!("{:02}", self.day),
            'e' => format!("{:2}", self.day),
            'H' => format!("{:02}", self.hour),
            'I' => format!("{hour:02}"),
            'M' => format!("{:02}", self.minute),
            'S' => format!("{:02}", self.second),
            'p' => if self.hour < 12 { "AM" } else { "PM" }.into(),
            'a' => day_name[..3].into(),
            'A' => day_name.into(),
            'b' | 'h' => month_name[..3].into(),
            'B' => month_name.into(),
            'j' => format!("{:03}", self.yearday),
            'w' => ((self.weekday + 1) % 7).to_string(),
            'u' => (self.weekday + 1).to_string(),
            'Z' => "UTC".into(),
            'z' => "+0000".into(),
            'n' => "\n".into(),
            't' => "\t".into(),
            '%' => "%".into(),
            'F' => self.format("%Y-%m-%d"),
            'T' | 'X' => self.format("%H:%M:%S"),
            'D' | 'x' => self.format("%m/%d/%y"),
            'R' => self.format("%H:%M"),
            'c' => self.format("%a %b %e %H:%M:%S %Y"),
            _ => return None,
        })
    }

    fn format(&self, format: &str) -> String {
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(it) = chars.next() {
            if it != '%' {
                out.push(it);
                continue;
            }
            match chars.next() {
                Some(directive) => match self.text(directive) {
                    Some(text) => out.push_str(&text),
                    None => out.extend(['%', directive]),
                },
                None => out.push('%'),
            }
        }
        out
    }
}

fn seconds(cx: &mut Cx, args: Args<'_>) -> Result<i64, Raised> {
    match args.opt(0) {
        Some(_) => Ok(args.float(0)?.floor().clamp(-6e10, 2.5e11) as i64),
        None => Ok(cx.host.wall().floor() as i64),
    }
}

fn moment(cx: &mut Cx, args: Args<'_>, idx: usize) -> Result<Moment, Raised> {
    match args.opt(idx) {
        Some(value) => Moment::from_numbers(value),
        None => Ok(Moment::at(cx.host.wall().floor() as i64)),
    }
}

fn gmtime(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::tuple(Moment::at(seconds(cx, args)?).numbers().map(Value::Int)))
}

fn ctime(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::str(Moment::at(seconds(cx, args)?).format("%c")))
}

fn asctime(cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::str(moment(cx, args, 0)?.format("%c")))
}

fn strftime(cx: &mut Cx, args: Args<'_>) -> Res {
    let format = args.str(0)?;
    Ok(Value::str(moment(cx, args, 1)?.format(format)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_calendar() {
        assert_eq!(Moment::at(0).format("%c %j"), "Thu Jan  1 00:00:00 1970 001");
        assert_eq!(Moment::at(951_782_399).format("%F %T %A"), "2000-02-28 23:59:59 Monday");
        assert_eq!(Moment::at(951_868_800).format("%F %j %I%p"), "2000-03-01 061 12AM");
        assert_eq!(Moment::at(-1).format("%D %X"), "12/31/69 23:59:59");
    }
}
