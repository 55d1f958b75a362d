//! Tensors from `ndarray` arrays and back: copies of the elements, on no tape and in no trace.
//!
//! ```
//! use engine::Tensor;
//! use ndarray::{ArrayD, array};
//!
//! let x = Tensor::try_from(&array![[1.0_f32, 2.0], [3.0, 4.0]])?;
//! let turned = engine::functional::matrix_transpose(&x)?;
//! assert_eq!(ArrayD::<f32>::try_from(&turned)?, array![[1.0, 3.0], [2.0, 4.0]].into_dyn());
//! # Ok::<(), engine::Error>(())
//! ```

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

use crate::storage::Element;
use crate::{DType, Error, Result, Shape, Tensor};

/// A tensor of the dtype that the elements are of. Fails where the budget has no room for it.
impl<T: Element, S: Data<Elem = T>, D: Dimension> TryFrom<&ArrayBase<S, D>> for Tensor {
    type Error = Error;

    fn try_from(array: &ArrayBase<S, D>) -> Result<Self> {
        let elements: Vec<T> = array.iter().copied().collect();
        Self::from_vec(&elements, Shape::new(array.shape()))
    }
}

/// The elements of a tensor of their dtype, a bool as `u8`. Fails where `T` is not its type, or it has no elements.
///
/// ```
/// use engine::{Error, Tensor};
/// use ndarray::{ArrayD, array};
///
/// let x = Tensor::try_from(&array![1_i64, 2])?;
/// assert!(matches!(ArrayD::<f32>::try_from(&x), Err(Error::DType { .. })));
/// # Ok::<(), Error>(())
/// ```
impl<T: Element> TryFrom<&Tensor> for ArrayD<T> {
    type Error = Error;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        let elements = tensor.to_vec::<T>()?;
        Self::from_shape_vec(IxDyn(tensor.shape()), elements).map_err(|_| Error::outside_storage())
    }
}

/// The elements of a bool tensor.
impl TryFrom<&Tensor> for ArrayD<bool> {
    type Error = Error;

    fn try_from(tensor: &Tensor) -> Result<Self> {
        if tensor.dtype() != DType::Bool {
            return Err(Error::DType { op: "to_vec", dtype: tensor.dtype(), allowed: "bool" });
        }
        Ok(ArrayD::<u8>::try_from(tensor)?.mapv(|it| it != 0))
    }
}

impl Tensor {
    /// A bool tensor from an array of truths.
    ///
    /// ```
    /// use engine::{DType, Tensor};
    /// use ndarray::{ArrayD, array};
    ///
    /// let mask = Tensor::from_bool_array(&array![true, false])?;
    /// assert_eq!(mask.dtype(), DType::Bool);
    /// assert_eq!(ArrayD::<bool>::try_from(&mask)?, array![true, false].into_dyn());
    /// # Ok::<(), engine::Error>(())
    /// ```
    pub fn from_bool_array<S: Data<Elem = bool>, D: Dimension>(
        array: &ArrayBase<S, D>,
    ) -> Result<Self> {
        let elements: Vec<bool> = array.iter().copied().collect();
        Self::from_bools(&elements, Shape::new(array.shape()))
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};
    use ndarray::{Array2, arr0, s};

    use super::*;

    /// There and back again, from an array whose rows lie apart and backwards.
    fn returns<T: Element + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        let whole = Array2::from_shape_fn((4, 6), |(row, column)| element(row * 6 + column));
        let part = whole.slice(s![..;-2, 1..;3]);
        let tensor = Tensor::try_from(&part).unwrap();
        assert_eq!((tensor.dtype(), &tensor.shape()[..]), (T::DTYPE, part.shape()));
        assert_eq!(ArrayD::<T>::try_from(&tensor).unwrap(), part.to_owned().into_dyn());
    }

    #[test]
    fn every_element_type_goes_there_and_back() {
        returns(|it| it as u8);
        returns(|it| it as i8 - 9);
        returns(|it| it as i16 - 9);
        returns(|it| it as u16);
        returns(|it| it as i32 - 9);
        returns(|it| it as i64 - 9);
        returns(|it| f16::from_f64(it as f64 / 4.0));
        returns(|it| bf16::from_f64(it as f64 / 4.0));
        returns(|it| it as f32 / 7.0);
        returns(|it| it as f64 / 7.0);
    }

    #[test]
    fn scalars_empty_arrays_and_views_keep_their_shapes() {
        let scalar = Tensor::try_from(&arr0(2.5)).unwrap();
        assert_eq!((scalar.rank(), scalar.to_f64_vec().unwrap()), (0, vec![2.5]));
        let empty = Tensor::try_from(&Array2::<f32>::zeros((0, 3))).unwrap();
        assert_eq!(ArrayD::<f32>::try_from(&empty).unwrap().shape(), [0, 3]);
        let x =
            Tensor::try_from(&Array2::from_shape_fn((2, 3), |(i, j)| (i * 3 + j) as i64)).unwrap();
        let turned = crate::functional::matrix_transpose(&x).unwrap();
        let array = ArrayD::<i64>::try_from(&turned).unwrap();
        assert_eq!(array, ndarray::array![[0, 3], [1, 4], [2, 5]].into_dyn());
        assert!(ArrayD::<bool>::try_from(&turned).is_err());
    }
}
